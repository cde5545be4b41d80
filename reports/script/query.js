// Searches: tokens `key:value` and words that must all hold. Each token becomes a mask over the rows.
const FIXED_KEYS = ['status', 'op', 'type', 'family', 'note', 'rule', 'reading', 'worst', 'ms', 'id'];
const TOKEN = /([!-]?)(?:([A-Za-z_][\w.()/-]*):(?!:))?((?:"(?:[^"]|"")*"|[^\s"])+)/g;
const VALUE = /"((?:[^"]|"")*)"|([^,]+)/g;

const searchKeys = () => [...new Set([...FIXED_KEYS, ...(runInQuestion().held ? ['known'] : []), ...(table.runs.length > 1 ? ['same'] : []), ...otherRuns().map(run => run.key), ...table.features.keys()])];
function parseQuery(text) {
  const tokens = [], unknown = [], keys = searchKeys();
  for (const [whole, not, typed, rest] of text.matchAll(TOKEN)) {
    // What a status is called elsewhere, cut short or not, unless a feature has that name.
    const key = typed?.length > 2 && 'verdict'.startsWith(typed) && !keys.some(each => each.startsWith(typed)) ? 'status' : typed;
    const values = [...rest.matchAll(VALUE)].map(([, quoted, plain]) => (quoted === undefined ? plain : quoted.replaceAll('""', '"')));
    if (!key) { tokens.push({ whole, not: !!not, key: '', values: [values.join(',').toLowerCase()] }); continue; }
    const near = keys.includes(key) ? [key] : keys.filter(each => each.startsWith(key));
    if (near.length === 1) tokens.push({ whole, not: !!not, key: near[0], values });
    else unknown.push({ key, near: near.length ? near : nearKeys(key, keys) });
  }
  return { tokens, unknown };
}
function nearKeys(key, keys) {
  const head = key.slice(0, 4).toLowerCase();
  const begins = each => Number(each.toLowerCase().startsWith(head));
  return keys.filter(each => each.toLowerCase().includes(head)).sort((one, two) => begins(two) - begins(one)).slice(0, 5);
}
// A token as it is typed: quoted where a search would take its value apart.
function tokenText(key, value) {
  const text = String(value);
  return /^[^\s",<>*]+$/.test(text) ? `${key}:${text}` : `${key}:"${text.replaceAll('"', '""')}"`;
}

// Which rows a token lets through, 1 or 0 each.
function maskOf(token) {
  const mask = new Uint8Array(table.size);
  const hit = rowTest(token.key, token.values);
  for (let row = 0; row < table.size; row++) mask[row] = hit(row) === token.not ? 0 : 1;
  return mask;
}
function rowTest(key, values) {
  const run = runInQuestion();
  const coded = (codes, names, fits) => {
    const wanted = names.map(name => values.some(value => fits(name, value)));
    return row => wanted[codes[row]];
  };
  const status = codes => coded(codes, table.verdicts, (verdict, value) => (value === 'failing' || value === 'decided'
    ? table.verdicts.indexOf(verdict) < FAILING || (value === 'decided' && verdict.name === 'pass') : verdict.name.startsWith(value.replaceAll(' ', '_')) || value === '*'));
  switch (key) {
    case '': {
      const said = run.reasons.map(each => String(each ?? '').toLowerCase().includes(values[0]));
      return row => said[run.reason[row]] || table.ids[row].toLowerCase().includes(values[0].replace('::', '/')) || table.rules[table.ruleOf[row]].includes(values[0]);
    }
    case 'status': return status(run.verdict);
    case 'op': return coded(table.operatorOf, table.operators, operatorFits);
    case 'type': return coded(table.typeOf, table.types, (type, value) => type === value || value === '*');
    case 'family': return coded(table.familyOf, table.families, (family, value) => family.startsWith(value) || value === '*');
    case 'rule': return coded(table.ruleOf, table.rules, (rule, value) => rule !== '' && (value === '*' || rule.includes(value)));
    case 'note': return row => values.some(value => (value === '*' ? run.note[row] > 0 : run.note[row] === Number(value)));
    case 'reading': return coded(run.reading, run.readings, (told, value) => told !== '' && (value === '*' || told.split(';').some(each => each === value || each.startsWith(`${value}=`))));
    case 'known': return coded(run.known, KNOWN, (told, value) => told !== '' && (value === '*' || told.startsWith(value)));
    case 'same': return coded(table.same, SAME, (told, value) => told !== '' && (value === '*' || told === value));
    case 'worst': return row => values.some(value => compares(run.ratio[row] === WRONG_SHAPE ? NaN : run.ratio[row], value));
    case 'ms': return row => values.some(value => compares(run.time[row], value));
    case 'id': return row => values.some(value => table.ids[row].includes(value));
  }
  const other = otherRuns().find(each => each.key === key);
  if (other) return status(other.verdict);
  const { codes, values: names } = table.features.get(key);
  return coded(codes, ['', ...names], (name, value) => name !== '' && (value === '*' || name === value));
}
function operatorFits(operator, value) {
  const short = operator.name.split('::')[1].toLowerCase(), wanted = value.toLowerCase();
  return operator.name.toLowerCase() === wanted || short === wanted || value === '*'
    || short.startsWith(wanted.includes('-') ? wanted : `${wanted}-`) && !/-\d+$/.test(wanted) || operator.name.toLowerCase().startsWith(`${wanted}::`);
}
function compares(number, value) {
  const [, sign, text] = value.match(/^(>=|<=|>|<)?(.*)$/);
  if (Number.isNaN(number)) return false;
  if (text === '*') return true;
  const limit = text === 'inf' ? Infinity : Number(text);
  switch (sign) {
    case '>': return number > limit;
    case '>=': return number >= limit;
    case '<': return number < limit;
    case '<=': return number <= limit;
    default: return number === limit;
  }
}

// A search at work: for each row how many tokens it fails; `without` leaves those of one key out.
function search(text) {
  const { tokens, unknown } = parseQuery(text);
  const masks = tokens.map(maskOf);
  const failed = new Uint8Array(table.size);
  for (const mask of masks) for (let row = 0; row < mask.length; row++) failed[row] += 1 - mask[row];
  const without = key => {
    const own = masks.filter((_, place) => tokens[place].key === key);
    if (!own.length) return failed;
    const rest = failed.slice();
    for (const mask of own) for (let row = 0; row < mask.length; row++) rest[row] -= 1 - mask[row];
    return rest;
  };
  return { text, tokens, unknown, failed, without };
}
function countOf(text) {
  const { failed } = search(text);
  let number = 0;
  for (const each of failed) if (!each) number++;
  return number;
}
function toggleToken(text, key, value) {
  const token = tokenText(key, value), tokens = [...text.matchAll(TOKEN)].map(([whole]) => whole);
  if (tokens.includes(token)) return tokens.filter(each => each !== token).join(' ');
  return [...tokens.filter(each => !each.startsWith(`${key}:`)), token].join(' ');
}
