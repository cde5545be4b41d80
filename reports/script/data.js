// The data of the report: compressed parts, in this page or in script files beside it, opened when needed.
const WRONG_SHAPE = -2;
const NOT_EQUAL = -1;
const FAILING = 5; // The first verdicts of the table are the failing ones, the worst first.
const KNOWN = ['', 'waiver', 'baseline', 'expired', 'no']; // What a profile and a baseline say of a failing case.
const SAME = ['', 'yes', 'no']; // Whether all runs have one verdict on a case.
const directory = JSON.parse(find('#directory').textContent);
const arriving = new Map();
const handOver = new Map();
let table = null;

window.opcertPart = (name, text) => handOver.get(name)?.(text);

function openPart(name) {
  if (!arriving.has(name)) arriving.set(name, partText(name).then(unpack));
  return arriving.get(name);
}
function partText(name) {
  const here = document.getElementById(`part-${name}`);
  if (here) return Promise.resolve(here.textContent);
  const [source, nonce] = directory.files[name];
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    handOver.set(name, resolve);
    script.nonce = nonce;
    script.src = source;
    script.onerror = () => reject(new Error(`${source} cannot be read; it belongs beside this page`));
    document.head.append(script);
  });
}
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text.trim()), letter => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).json();
}

async function openTable() {
  const raw = await openPart('table');
  const size = raw.ids.length;
  const column = content => (Array.isArray(content) ? Uint16Array.from(content) : new Uint16Array(size).fill(content));
  const ids = [], operatorOf = new Uint16Array(size), familyOf = new Uint16Array(size);
  const { families } = raw, features = new Map();
  for (const [name, values] of Object.entries(raw.features)) features.set(name, { name, values, codes: new Uint16Array(size) });
  let start = 0;
  raw.operators.forEach((operator, place) => {
    operatorOf.fill(place, start, start + operator.count);
    const path = operator.name.replace('::', '/');
    for (let row = start; row < start + operator.count; row++) {
      familyOf[row] = families.indexOf(raw.ids[row].split('/', 1)[0]);
      ids.push(`${path}/${raw.ids[row]}`);
    }
    for (const [name, content] of Object.entries(operator.columns)) {
      const { codes } = features.get(name);
      if (Array.isArray(content)) codes.set(content, start); else codes.fill(content, start, start + operator.count);
    }
    start += operator.count;
  });
  const verdicts = raw.verdicts.map(([name, word, short]) => ({ name, word, short }));
  table = {
    size, total: raw.total ?? size, counted: raw.counted && new Set(raw.counted), others: raw.others ?? [], ids, operators: raw.operators, operatorOf, types: raw.types, typeOf: column(raw.type), families, familyOf,
    rules: ['', ...raw.rules], ruleOf: column(raw.rule), features, verdicts, runs: raw.runs.map(openRun),
    place: new Map(ids.map((id, row) => [id, row])), partOf: new Map(),
  };
  table.same = Uint8Array.from(table.runs[0].verdict, (verdict, row) => (table.runs.every(run => run.verdict[row] === verdict) ? 1 : 2));
  for (const [part, rows] of Object.entries(directory.details)) for (const row of rows) table.partOf.set(row, part);
}
function openRun(raw) {
  const run = { ...raw, excuses: raw.excuses.map(([standing, mark, sentence, link, leads]) => ({ standing, mark, sentence, link, leads })) };
  return {
    ...run,
    verdict: Uint8Array.from(run.verdict),
    note: Uint16Array.from(run.note),
    ratio: Float64Array.from(run.ratio, each => (each === null ? NaN : each === NOT_EQUAL ? Infinity : each)),
    time: Float64Array.from(run.time, each => (each === null ? NaN : each)),
    known: Uint8Array.from(run.verdict, (verdict, row) => (run.held && verdict < FAILING ? KNOWN.indexOf(run.excuses[run.excuse[row] - 1]?.standing ?? 'no') : 0)),
    reasons: ['', ...run.reasons],
    readings: ['', ...run.readings],
    orders: new Map(),
  };
}
const runInQuestion = () => table.runs[runPlace()];
const otherRuns = () => table.runs.filter((_, place) => place !== runPlace());
const verdictOf = (run, row) => table.verdicts[run.verdict[row]];
const excuseOf = (run, row) => run.excuses[run.excuse[row] - 1];
const fails = (run, row) => run.verdict[row] < FAILING;
function featureOf(row, name) {
  if (name === 'rule broken') return table.rules[table.ruleOf[row]];
  if (name === 'element_type') return table.types[table.typeOf[row]];
  const found = table.features.get(name);
  return found && found.codes[row] ? found.values[found.codes[row] - 1] : undefined;
}
// By what cases are counted: nothing, `type`, `family` or a feature; null where each has the same.
const codesOf = key => ({ '': null, type: table.typeOf, family: table.familyOf })[key] ?? table.features.get(key)?.codes ?? null;
// Of very many cases those that are not listed are counted beforehand, by features that have few values.
const countedBy = name => !table.counted || table.counted.has(name);
// Every case that is listed, one by one, and the others together: operator, number of the value, verdict, note, how many.
function eachCount(key, use, run = runInQuestion()) {
  const codes = codesOf(key), place = table.runs.indexOf(run);
  for (let row = 0; row < table.size; row++) use(table.operatorOf[row], codes ? codes[row] : 0, run.verdict[row], run.note[row], 1);
  table.others.forEach((keys, operator) => {
    for (const [code, told] of Object.entries(keys[key] ?? {})) for (const one of told) use(operator, Number(code), one[2 * place], one[2 * place + 1], one.at(-1));
  });
}
// The file beside the page that has every case, where the page lists some alone.
const wholeList = () => directory.lists?.[runPlace()];
// What a failing case says beside the table; null for a case that fails nowhere.
async function detailOf(row) {
  const part = table.partOf.get(row);
  return part ? (await openPart(part))[row] : null;
}
