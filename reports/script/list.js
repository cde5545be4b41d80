// The list of cases with its filters.
const STEP = 60;
const AT_ONCE = 24; // Rows that a window shows; those below them follow when it has.
const SORTS = {
  verdict: (run, one, two) => run.verdict[one] - run.verdict[two] || (run.note[one] || 1e6) - (run.note[two] || 1e6),
  id: () => 0,
  worst: (run, one, two) => reach(run, two) - reach(run, one),
  note: (run, one, two) => (run.note[one] || 1e6) - (run.note[two] || 1e6),
  ms: (run, one, two) => (run.time[two] || 0) - (run.time[one] || 0),
};
const list = { rows: [], shown: STEP, rest: null, search: null };

function reach(run, row) {
  const ratio = run.ratio[row];
  if (Number.isNaN(ratio)) return -1;
  return ratio === WRONG_SHAPE || ratio === Infinity ? Number.MAX_VALUE : ratio;
}
// All rows in an order that is found once; a search keeps those that it lets through.
function ordered(run, sort) {
  if (!run.orders.has(sort)) {
    const name = sort.replace('-', ''), compare = SORTS[name] ?? SORTS.verdict, back = sort.startsWith('-') ? -1 : 1;
    const rows = Array.from({ length: table.size }, (_, row) => row);
    run.orders.set(sort, rows.sort((one, two) => back * compare(run, one, two) || back * (one - two)));
  }
  return run.orders.get(sort);
}
function showList() {
  const run = runInQuestion(), found = search(state.q);
  list.search = found;
  list.rows = ordered(run, state.sort || 'verdict').filter(row => !found.failed[row]);
  const numbers = new Array(table.verdicts.length).fill(0);
  for (const row of list.rows) numbers[run.verdict[row]]++;
  put(find('#query-says'), html`<span><b>${count(list.rows.length)}</b> of ${count(table.size)} cases${wholeList() ? html` listed here, of ${count(table.total)} in all: <a href="${wholeList()}">${wholeList()}</a> has every one, and the tables count them` : ''}${state.q ? '' : ', no filter'}${table.runs.length > 1 ? `, as ${run.label} does them` : ''}</span>
${table.verdicts.map((verdict, place) => numbers[place] > 0 && html`<span class="v v-${verdict.name}">${sign(verdict)}${count(numbers[place])} ${verdict.word}</span>`)}
${state.q ? html`<span class="on-paper">found by <code>${state.q}</code></span><a href="${casesLink('')}">Clear filter</a>` : ''}`);
  put(find('#query-problems'), found.unknown.map(({ key, near }) => html`<p role="alert">No key <code>${key}</code>${near.length ? html`; ${near.length > 1 ? 'did you mean one of' : 'did you mean'} ${near.map((each, place) => html`${place ? ', ' : ''}<code>${each}</code>`)}` : ''}. The token was left out.</p>`));
  showRows(state.case ? list.shown : AT_ONCE);
  showFacets();
}
function showRows(atOnce = list.shown) {
  list.rest = null;
  const run = runInQuestion(), others = otherRuns();
  const box = find('#list');
  if (!list.rows.length) { put(box, html`<div class="nothing"><h2>No case fits</h2><p>${state.q ? html`Nothing has all of <code>${state.q}</code>.` : 'The run holds no case.'} ${dropHint()}</p></div>`); return; }
  const sort = state.sort.replace('-', '') || 'verdict', back = state.sort.startsWith('-');
  const head = (name, text, kind) => html`<th scope="col"${kind ? html` class="${kind}"` : ''}${sort === name ? html` aria-sort="${back ? 'descending' : 'ascending'}"` : ''}><button type="button" data-head="${name}" data-sort="${sort === name && !back ? `-${name}` : name}">${text}${sort === name ? (back ? ' ↑' : ' ↓') : ''}</button></th>`;
  put(box, html`<table class="list"><caption class="hidden">Cases</caption><thead><tr>${head('verdict', 'verdict')}${head('id', 'case')}<th scope="col">type</th><th scope="col">attributes and levels that are not the default</th>${head('worst', 'error ÷ allowed', 'num')}${head('note', 'note', 'num')}${others.length ? html`<th scope="col" class="o">${others.length === 1 ? others[0].label : 'other runs'}</th>` : ''}${head('ms', 'ms', 'num')}</tr></thead>
<tbody>${list.rows.slice(0, Math.min(atOnce, list.shown)).map(row => listRow(run, others, row))}</tbody></table>
${list.rows.length > list.shown ? html`<p><button class="button" type="button" data-more>Show ${count(Math.min(STEP, list.rows.length - list.shown))} more</button> <span class="mute small">${count(list.shown)} of ${count(list.rows.length)} shown</span></p>` : ''}`);
  if (atOnce < Math.min(list.shown, list.rows.length)) {
    const rest = list.rest = list.rows.slice(atOnce, list.shown);
    requestAnimationFrame(() => setTimeout(() => { if (rest === list.rest) showRest(rest); }));
  }
}
function showRest(rows) {
  const run = runInQuestion(), others = otherRuns();
  list.rest = null;
  find('#list tbody').insertAdjacentHTML('beforeend', flat(rows.map(row => listRow(run, others, row))));
}
function listRow(run, others, row) {
  const id = table.ids[row], note = run.note[row], time = run.time[row], excuse = excuseOf(run, row);
  return html`<tr data-case="${id}"${id === state.case ? html` class="current"` : ''}><td>${verdictWord(verdictOf(run, row))}${excuse ? html`<br><span class="mute small">${excuse.mark}</span>` : ''}</td><td class="id"><a href="${link({ case: id, note: '' })}">${id.split('/').slice(1).map((part, place) => html`${place ? html`/<wbr>` : ''}${part}`)}</a></td><td>${table.types[table.typeOf[row]]}</td><td class="levels">${levelsText(run, row)}</td><td class="num" data-label="error">${ratioText(run.ratio[row])}</td><td class="num" data-label="note">${note ? html`<a href="${link({ page: 'summary', note: String(note), case: '' })}">${note}</a>` : ''}</td>${others.length ? html`<td class="o">${others.map(other => html`${others.length > 1 ? html`<span class="mute">${other.key}</span> ` : ''}${verdictWord(verdictOf(other, row), others.length > 1)} `)}</td>` : ''}<td class="num" data-label="ms">${Number.isNaN(time) ? '' : time >= 100 ? count(Math.round(time)) : time.toFixed(2)}</td></tr>`;
}
function levelsText(run, row) {
  const rule = table.rules[table.ruleOf[row]];
  if (rule) return html`<span>breaks ${rule}</span>`;
  const named = noteFeatures(run, row), { usual } = table.operators[table.operatorOf[row]];
  const unusual = [];
  for (const { name, codes, values } of table.features.values()) {
    const inNote = named.includes(name);
    if (codes[row] && (inNote || usual[name] !== undefined && codes[row] !== usual[name] && !name.includes('('))) unusual.push({ name, value: values[codes[row] - 1], inNote });
  }
  if (!unusual.length) return html`<span>all default</span>`;
  unusual.sort((one, two) => two.inNote - one.inNote);
  return unusual.map(each => html`<span${each.inNote ? html` class="hit"` : ''}>${each.name}=<wbr>${each.value}</span> `);
}
const noteFeatures = (run, row) => (run.note[row] ? run.classes[run.note[row] - 1].features : []);
// Which token to drop where nothing is left, and what that gives.
function dropHint() {
  const tokens = list.search.tokens.map(each => each.whole);
  for (let place = tokens.length - 1; place >= 0 && tokens.length > 1; place--) {
    const rest = tokens.filter((_, each) => each !== place).join(' '), number = countOf(rest);
    if (number) return html`Without <code>${tokens[place]}</code> there ${number === 1 ? 'is' : 'are'} <a href="${casesLink(rest)}">${plural(number, 'case')}</a>.`;
  }
  return '';
}
