// A page for each operator: whether it can be used, by version, element type and attribute, and why not.
const MOST_LEVELS = 14;
const operatorLink = name => link({ page: 'operators', operator: name.replace(/-\d+$/, ''), q: '', case: '', note: '', by: 'type', attr: '', only: '', order: '', name: '' });

async function showOperators() {
  const [facts] = await Promise.all([openPart('operators'), ready()]), box = find('#operator');
  if (state.page !== 'operators') return;
  const alike = operatorsCalled(state.operator);
  if (alike.length === 1 && alike[0] !== state.operator) {
    state.operator = alike[0];
    history.replaceState(null, '', link({}));
    showTitle(runPlace());
  }
  const places = table.operators.map((_, place) => place).filter(place => table.operators[place].name.replace(/-\d+$/, '') === state.operator);
  if (places.length) put(box, operatorPage(places, facts));
  else operatorIndex(box, facts, alike);
}
// An operator by its whole name, or those that somebody means who leaves out its domain or says a version.
function operatorsCalled(said) {
  const names = [...new Set(table.operators.map(each => each.name.replace(/-\d+$/, '')))], word = said.replace(/-\d+$/, '').toLowerCase();
  return names.includes(said) ? [said] : names.filter(name => [name, name.split('::')[1]].some(each => each.toLowerCase() === word));
}
// Cases counted by `type`, `family`, a feature or nothing, together where `nameOf` gives one name; without one left out.
function tallyEach(by, nameOf, run) {
  const found = new Map();
  eachCount(by, (operator, code, verdict, note, number) => {
    const name = nameOf(operator, code, note);
    if (name === undefined) return;
    if (!found.has(name)) found.set(name, tallyOf());
    add(found.get(name), verdict, note, number);
  }, run);
  return found;
}
// Every operator, its versions together: the number of the cause that is to be fixed first puts them in order.
const ORDERS = {
  '': ['worst first', (one, two) => one.first - two.first || one.share - two.share],
  share: ['share', (one, two) => one.share - two.share],
  name: ['name', () => 0],
  group: ['group', (one, two) => (one.group < two.group ? -1 : Number(one.group > two.group))],
};
function operatorRows(facts) {
  const names = table.operators.map(each => each.name.replace(/-\d+$/, '')), rows = new Map();
  table.operators.forEach((each, place) => {
    if (!rows.has(names[place])) rows.set(names[place], { name: names[place], short: names[place].split('::')[1], group: facts[each.name].group, versions: [] });
    rows.get(names[place]).versions.push(each);
  });
  const tallies = tallyEach('', operator => names[operator]), pass = table.verdicts.findIndex(each => each.name === 'pass');
  return [...rows.values()].map(row => {
    const tally = tallies.get(row.name) ?? tallyOf(), fails = tally.numbers.slice(0, FAILING).reduce((sum, each) => sum + each, 0), decided = tally.numbers[pass] + fails;
    return { ...row, tally, fails, decided, share: decided ? tally.numbers[pass] / decided : 2, first: fails ? Math.min(...tally.notes, 1e6) : decided ? 1e7 : 1e8 };
  });
}
// Cut off, as the pages made beforehand do it: 99.96 % is 99.9 %.
const shareText = row => (row.decided ? `${(Math.floor(row.share * 1000 + 1e-9) / 10).toFixed(1)} %` : 'none decided');
function operatorIndex(box, facts, alike) {
  const meant = alike.map(name => html` <a href="${operatorLink(name)}">${name}</a>`);
  const wrong = state.operator ? html`<p class="warning">${alike.length ? 'Several operators' : 'No operator'} of this report ${alike.length ? 'are' : 'is'} called ${state.operator}${alike.length ? ':' : '.'}${meant}</p>` : '';
  // The box for a name stays while somebody types in it.
  if (!find('#operator-name', box)) put(box, html`<div class="head"><h1>Operators</h1><div class="seg columns" role="group" aria-label="Rows and their order"><button type="button" data-only>failing only</button><span class="mute">order</span>${Object.entries(ORDERS).map(([key, [said]]) => html`<button type="button" data-order="${key}">${said}</button>`)}</div></div><div id="operator-wrong"></div><p><label>Name or group <input type="search" id="operator-name" autocomplete="off" spellcheck="false"></label> <span class="mute small" id="operator-count" role="status"></span></p><div id="operator-rows"></div>`);
  put(find('#operator-wrong'), wrong);
  for (const button of findAll('[data-order]', box)) button.setAttribute('aria-pressed', String(button.dataset.order === (state.order in ORDERS ? state.order : '')));
  find('[data-only]', box).setAttribute('aria-pressed', String(state.only === 'failing'));
  const name = find('#operator-name'), words = state.name.toLowerCase().split(/[\s,]+/).filter(Boolean);
  if (document.activeElement !== name) name.value = state.name;
  const every = operatorRows(facts), compare = (ORDERS[state.order] ?? ORDERS[''])[1], by = (one, two) => (one.short < two.short ? -1 : Number(one.short > two.short));
  const rows = every.filter(row => (state.only !== 'failing' || row.fails) && (!words.length || words.some(word => `${row.name} ${row.group}`.toLowerCase().includes(word)))).sort((one, two) => compare(one, two) || by(one, two));
  find('#operator-count').textContent = rows.length === every.length ? plural(rows.length, 'operator') : `${count(rows.length)} of ${plural(every.length, 'operator')}`;
  put(find('#operator-rows'), html`<table class="matrix few"><caption class="hidden">Operators</caption><thead><tr><th scope="col">operator</th><th scope="col">cases that pass</th><th scope="col">share of decided</th><th scope="col">versions</th><th scope="col">group</th></tr></thead><tbody>${rows.map(row => html`<tr><th scope="row"><a href="${operatorLink(row.name)}">${row.short}</a></th>${matrixCell(row.tally, [versionsToken(row.versions)], 'cases')}${plainCell('share', shareText(row))}${plainCell('versions', row.versions.map(each => each.name.split('-').at(-1)).join(', '))}${plainCell('group', row.group)}</tr>`)}</tbody></table>`);
}
const plainCell = (label, text) => html`<td class="f-quiet"><div class="cell"><span class="label">${label}</span><span class="line">${text}</span></div></td>`;
const versionsToken = versions => `op:${versions.map(each => each.word).join(',')}`;
function operatorPage(places, facts) {
  const run = runInQuestion(), versions = places.map(place => table.operators[place]), mine = new Set(places), op = versionsToken(versions);
  const [domain, name] = state.operator.split('::'), newest = facts[versions[0].name];
  const own = row => mine.has(table.operatorOf[row]), whole = tallyEach('', operator => (mine.has(operator) ? 0 : undefined)).get(0);
  return html`<p class="small"><a href="${link({ operator: '' })}">All operators</a></p><h1>${name} <span class="mute">${domain}</span></h1>
<p class="say">${operatorSays(whole)}</p>
<p>${newest.page ? html`<a href="${newest.page}" rel="noreferrer">Public page of ${name}</a> <span class="mute">·</span> ` : ''}<a href="${casesLink(op)}">${whole.total === 1 ? 'Its only case' : `All ${plural(whole.total, 'case')}`}</a> <span class="mute">· ${timesText(run, own)}</span></p>
${versionSection(versions, places)}${runsSection(versions, places)}${causesSection(run, mine, op)}${attributesSection(newest, mine, op)}${followedSection(run, own, op)}${rulesSection(newest, versions[0])}
${documentsSection(versions, facts)}`;
}
function documentsSection(versions, facts) {
  const documents = [...new Set(versions.flatMap(each => facts[each.name].documents))];
  return documents.length ? html`<div class="head"><h2>Documents</h2></div><ul class="plain">${documents.map(each => html`<li>${each}</li>`)}</ul>` : '';
}
function operatorSays(tally) {
  const number = name => tally.numbers[table.verdicts.findIndex(each => each.name === name)];
  const failing = tally.numbers.slice(0, FAILING).reduce((sum, each) => sum + each, 0), causes = tally.causes.size;
  const decided = number('pass') + failing;
  const said = [decided ? `${count(number('pass'))} of ${plural(decided, 'decided case')} ${number('pass') === 1 ? 'gives' : 'give'} what the documents say.` : 'Nothing was decided.'];
  if (failing) said.push(`${count(failing)} ${failing === 1 ? 'does' : 'do'} not, for ${causes === 1 ? 'one cause' : plural(causes, 'cause')}.`);
  if (number('inexact')) said.push(`${count(number('inexact'))} ${number('inexact') === 1 ? 'is' : 'are'} less exact than the table of functions.`);
  if (number('document')) said.push(`${count(number('document'))} ${number('document') === 1 ? 'is' : 'are'} open in the documents.`);
  if (number('unsupported')) said.push(`${count(number('unsupported'))} ${number('unsupported') === 1 ? 'is' : 'are'} unsupported, and the runtime says so itself.`);
  if (number('observed')) said.push(`Of ${plural(number('observed'), 'case')} nothing is demanded but survival.`);
  return said.join(' ');
}
function timesText(run, own) {
  if (wholeList()) return 'times of all cases are in the list beside this page';
  const times = [...run.time].filter((time, row) => own(row) && !Number.isNaN(time)).sort((one, two) => one - two);
  if (times.length === 1) return timeText(times[0]);
  return times.length ? `half of them within ${timeText(times[Math.floor((times.length - 1) / 2)])}, the slowest ${timeText(times.at(-1))}` : 'never sent';
}
function versionSection(versions, places) {
  const number = table.types.length, tallies = tallyEach('type', (operator, type) => operator * number + type), all = tallyEach('', operator => operator);
  const total = type => places.reduce((sum, place) => sum + (tallies.get(place * number + type)?.total ?? 0), 0);
  const used = table.types.map((_, type) => type).filter(total);
  return html`<div class="head"><h2>Versions and element types</h2><span class="mute small">what passes of what was decided, marked with the worst verdict; numbers below are notes of what to fix</span></div><div class="scroll" role="region" aria-label="Versions and element types" tabindex="0"><table class="matrix${used.length >= MOST_ON_PAPER ? ' flows' : ''}"><thead><tr><th scope="col">version</th><th scope="col">all</th>${used.map(type => html`<th scope="col">${table.types[type]}</th>`)}</tr></thead><tbody>${versions.map((version, at) => html`<tr><th scope="row">${shortName(version)}</th>${matrixCell(all.get(places[at]) ?? tallyOf(), [tokenText('op', version.word)], 'all')}${used.map(type => matrixCell(tallies.get(places[at] * number + type) ?? tallyOf(), [tokenText('op', version.word), tokenText('type', table.types[type])], table.types[type]))}</tr>`)}</tbody></table></div>`;
}
function runsSection(versions, places) {
  if (table.runs.length < 2) return '';
  const cells = table.runs.map(run => {
    const found = tallyEach('', operator => operator, run);
    return places.map(place => found.get(place) ?? tallyOf());
  });
  return html`<div class="head"><h2>Beside other runs</h2></div><div class="scroll" role="region" aria-label="Beside other runs" tabindex="0"><table class="matrix few"><thead><tr><th scope="col">version</th>${table.runs.map(run => html`<th scope="col">${run.label}</th>`)}</tr></thead><tbody>${versions.map((version, at) => html`<tr><th scope="row">${shortName(version)}</th>${table.runs.map((run, place) => matrixCell(cells[place][at], [tokenText('op', version.word)], run.label, place === runPlace() ? undefined : run.key))}</tr>`)}</tbody></table></div>`;
}
function causesSection(run, mine, op) {
  const found = tallyEach('', (operator, code, note) => (mine.has(operator) && note ? note : undefined));
  if (!found.size) return '';
  return html`<div class="head"><h2>What keeps it from passing</h2></div><ul class="plain reached">${[...found].sort(([one], [two]) => one - two).map(([note, tally]) => html`<li><a href="#note-${runPlace()}-${note}">${note}. ${run.classes[note - 1].text}</a> <a class="mute" href="${casesLink(op, `note:${note}`)}">${plural(tally.total, 'case')}</a></li>`)}</ul>`;
}
// Every attribute and level that cases of the operator differ in, and what passes of each of its values.
function attributesSection(facts, mine, op) {
  const pass = table.verdicts.findIndex(each => each.name === 'pass'), about = new Map(facts.attributes.map(([name, ...rest]) => [name, rest]));
  const rows = [...table.features.keys()].filter(name => !name.includes('(') && countedBy(name)).map(name => {
    const named = table.features.get(name).values, values = tallyEach(name, (operator, code) => (mine.has(operator) && code ? named[code - 1] : undefined));
    return { name, values: [...values].sort(([, one], [, two]) => two.total - one.total) };
  }).filter(({ name, values }) => values.length > 1 || values.length && about.has(name));
  if (!rows.length) return '';
  rows.sort((one, two) => about.has(two.name) - about.has(one.name));
  return html`<div class="head"><h2>Attributes and levels</h2><span class="mute small">what passes of the cases with each value</span></div><dl class="attributes">${rows.map(({ name, values }) => html`<dt><code>${name}</code>${about.get(name)?.[0] ? html` <span class="mute small">${about.get(name)[0]}</span>` : ''}</dt><dd><ul>${values.slice(0, MOST_LEVELS).map(([value, tally]) => html`<li><a href="${casesLink(op, tokenText(name, value))}"${failsIn(tally) ? html` class="v-mismatch"` : ''}><code>${value}</code> <b>${count(tally.numbers[pass])}</b> of ${count(tally.total)}</a></li>`)}${values.length > MOST_LEVELS ? html`<li class="mute">and ${plural(values.length - MOST_LEVELS, 'more value')}</li>` : ''}</ul>${(about.get(name)?.[1] ?? []).map(passageText)}</dd>`)}</dl>`;
}
function followedSection(run, own, op) {
  const found = new Map();
  if (wholeList()) return '';
  for (let row = 0; row < table.size; row++) {
    if (own(row) && run.reading[row]) for (const told of run.readings[run.reading[row]].split(';')) found.set(told, (found.get(told) ?? 0) + 1);
  }
  if (!found.size) return '';
  return html`<div class="head"><h2>Readings followed</h2><span class="mute small">what the documents leave open; <a href="${link({ page: 'readings', operator: '' })}">all readings</a> with the evidence</span></div><ul class="plain reached many">${[...found].sort().map(([told, number]) => html`<li><code>${told}</code> in <a href="${casesLink(op, tokenText('reading', told))}">${plural(number, 'case')}</a></li>`)}</ul>`;
}
function rulesSection(facts, version) {
  if (!facts.rules.length) return '';
  return html`<details><summary>${plural(facts.rules.length, 'rule')} that calls of ${shortName(version)} keep</summary><dl class="attributes">${facts.rules.map(([name, rule, passages]) => html`<dt><code>${name}</code></dt><dd><p>${rule}</p>${passages.map(passageText)}</dd>`)}</dl></details>`;
}
