// The support matrix by something else than element type: that one stands in the page from the beginning.
const MOST_ON_PAPER = 12, MOST_ACROSS = 20; // A table of more columns flows on paper; a long one stands across.
const MANY_ROWS = 40; // Of more rows those groups are folded at first in which nothing fails.
const ROW_HEIGHT = 45; // About, in pixels: a long table is laid out when it comes into sight.
const madeBefore = new Map();
let madeColumn = 0; // The column that arrow keys go up and down in, also past the head of a group.

// What stands in the page: the table, and in its order the groups of rows, each with its operators.
function matrixMade(place, box) {
  if (!madeBefore.has(place)) {
    const bodies = findAll('tbody', box), rows = findAll('tr[data-operator]', box).length;
    if (rows > MANY_ROWS) for (const each of bodies) if (each.classList.contains('quiet')) setFold(each, true);
    box.style.containIntrinsicBlockSize = `auto ${ROW_HEIGHT * findAll('tbody:not(.folded) tr, .folded .domain', box).length}px`;
    const groups = bodies.map(body => ({
      name: find('button', body).textContent, says: find('.small', body)?.textContent ?? '', quiet: body.classList.contains('quiet'),
      operators: findAll('tr[data-operator]', body).map(each => each.dataset.operator),
    }));
    madeBefore.set(place, { table: find('table', box), groups, folded: new Set(groups.filter(each => rows > MANY_ROWS && each.quiet).map(each => each.name)) });
  }
  return madeBefore.get(place);
}
function setFold(body, folded) {
  body.classList.toggle('folded', folded);
  find('[data-fold]', body).setAttribute('aria-expanded', String(!folded));
}
function fold(button) {
  const body = button.closest('tbody'), made = madeBefore.get(runPlace()), folded = !body.classList.contains('folded');
  setFold(body, folded);
  if (folded) made.folded.add(button.textContent); else made.folded.delete(button.textContent);
}
async function showMatrix() {
  const place = runPlace(), box = find(`#matrix-${place}`), made = matrixMade(place, box);
  const columns = find('.columns', box.closest('.run'));
  for (const button of findAll('button[data-by]', columns)) button.setAttribute('aria-pressed', String(button.dataset.by === state.by));
  const want = `${state.by} ${state.attr}`;
  const choice = find('select', columns);
  if (state.attr) choice.value = state.attr;
  if (box.dataset.shows !== want) {
    if (state.by !== 'type') await ready();
    if (`${state.by} ${state.attr}` !== want || place !== runPlace()) return;
    box.dataset.shows = want;
    if (state.by === 'type') box.replaceChildren(made.table);
    else put(box, state.by === 'runtime' ? runtimeMatrix() : columnMatrix(matrixColumns(choice.value)));
    for (const body of findAll('tbody', box)) setFold(body, made.folded.has(find('button', body).textContent));
  }
  find('[data-only]', columns)?.setAttribute('aria-pressed', String(state.only === 'failing'));
  const { classList } = find('table', box);
  classList.toggle('failing-only', state.only === 'failing');
  // Whether a long table is in sight is known when the window was drawn.
  if (classList.contains('long')) requestAnimationFrame(() => setTimeout(fitMatrix)); else fitMatrix();
}
// A table that has room needs no box to scroll in, and keeps its heads in sight.
function fitMatrix() {
  const box = find(`#matrix-${runPlace()}`);
  if (!find('table', box).checkVisibility({ contentVisibilityAuto: true })) return;
  box.classList.remove('fits');
  box.classList.toggle('fits', box.scrollWidth <= box.clientWidth);
}
function matrixColumns(name) {
  if (state.by === 'family') return { title: 'family', key: 'family', names: table.families };
  const feature = table.features.get(name);
  return { title: name, key: name, names: ['', ...(feature?.values ?? [])] };
}
const tallyOf = () => ({ numbers: new Array(table.verdicts.length).fill(0), notes: new Set(), causes: new Set(), total: 0 });
function add(tally, verdict, note, number = 1) {
  tally.numbers[verdict] += number;
  tally.total += number;
  if (note) tally.notes.add(note);
  if (note && verdict < FAILING) tally.causes.add(note);
}
function columnMatrix({ title, key, names }) {
  const cells = table.operators.map(() => ({ all: tallyOf(), by: names.map(tallyOf) })), feet = names.map(() => 0);
  eachCount('', (operator, code, verdict, note, number) => add(cells[operator].all, verdict, note, number));
  eachCount(key, (operator, code, verdict, note, number) => {
    add(cells[operator].by[code], verdict, note, number);
    feet[code] += number;
  });
  const used = names.map((name, place) => place).filter(place => names[place] !== '' && feet[place]);
  const line = (operator, own) => {
    const op = tokenText('op', operator.word);
    return html`${rowStart(operator, own.all)}${matrixCell(own.all, [op], 'all')}${used.map(place => matrixCell(own.by[place], [op, tokenText(key, names[place])], names[place]))}</tr>`;
  };
  return wholeMatrix(title, ['all', ...used.map(place => names[place])], used.length < 5, table.operators.map((operator, place) => [operator, cells[place].all, line(operator, cells[place])]), [table.total, ...used.map(place => feet[place])]);
}
// Runs side by side: what each does, and in how many cases both were judged and differ.
function runtimeMatrix() {
  const mine = runInQuestion(), others = otherRuns(), pass = table.verdicts.findIndex(each => each.name === 'pass');
  const heads = [mine.label];
  const judged = verdict => verdict < FAILING || verdict === pass, places = others.map(other => table.runs.indexOf(other)), at = table.runs.indexOf(mine);
  const cells = table.operators.map(() => ({ mine: tallyOf(), others: others.map(() => ({ own: tallyOf(), pairs: [0, 0, 0, 0, 0] })) }));
  const put = (operator, told, number) => {
    const own = cells[operator], [verdict, note] = told(at);
    add(own.mine, verdict, note, number);
    places.forEach((run, place) => {
      const [beside, besideNote] = told(run);
      add(own.others[place].own, beside, besideNote, number);
      own.others[place].pairs[!judged(verdict) || !judged(beside) ? 4 : 2 * (verdict < FAILING) + (beside < FAILING)] += number;
    });
  };
  for (let row = 0; row < table.size; row++) put(table.operatorOf[row], run => [table.runs[run].verdict[row], table.runs[run].note[row]], 1);
  table.others.forEach((keys, operator) => { for (const one of keys['']?.[0] ?? []) put(operator, run => one.slice(2 * run, 2 * run + 2), one.at(-1)); });
  for (const other of others) heads.push(other.label, 'both pass', `only ${other.key} fails`, `only ${mine.key} fails`, 'both fail', 'not judged on both');
  const sums = [table.total];
  others.forEach((_, place) => sums.push(table.total, ...[0, 1, 2, 3, 4].map(pair => cells.reduce((sum, own) => sum + own.others[place].pairs[pair], 0))));
  const lines = table.operators.map((operator, number) => {
    const op = tokenText('op', operator.word), own = cells[number];
    return [operator, own.mine, html`${rowStart(operator, own.mine)}${matrixCell(own.mine, [op], mine.label)}${others.map((other, place) => {
      const { own: tally, pairs } = own.others[place];
      const queries = [['status:pass', `${other.key}:pass`], ['status:pass', `${other.key}:failing`], ['status:failing', `${other.key}:pass`], ['status:failing', `${other.key}:failing`], null];
      return [matrixCell(tally, [op], other.label, other.key), queries.map((query, pair) => html`<td class="f-quiet"><div class="cell"><span class="label">${heads[2 + 6 * place + pair]}</span>${pairs[pair] && query ? html`<a href="${casesLink(op, ...query)}">${count(pairs[pair])}</a>` : html`<span class="mute">${count(pairs[pair])}</span>`}</div></td>`)];
    })}</tr>`];
  });
  return wholeMatrix('runtime', heads, false, lines, sums);
}
const shortName = operator => operator.name.split('::')[1];
const failsIn = tally => tally.numbers.some((number, place) => place < FAILING && number);
const rowStart = (operator, tally) => html`<tr data-operator="${operator.name}"${failsIn(tally) ? '' : html` class="quiet"`}><th scope="row"><a href="${operatorLink(operator.name)}">${shortName(operator)}</a></th>`;
function wholeMatrix(title, heads, few, lines, sums) {
  const { groups, table: made } = madeBefore.get(runPlace()), lineOf = new Map(lines.map(([operator, , line]) => [operator.name, line]));
  return html`<table class="matrix${few ? ' few' : ''}${heads.length > (made.classList.contains('long') ? MOST_ACROSS : MOST_ON_PAPER) ? ' flows' : ''}${made.classList.contains('long') ? ' long' : ''}"><caption class="hidden">What passes, by operator version and ${title}</caption><thead><tr><th scope="col">operator</th>${heads.map(head => html`<th scope="col">${head}</th>`)}</tr></thead>
${groups.map(({ name, says, quiet, operators }) => html`<tbody${quiet ? html` class="quiet"` : ''}><tr class="domain"><th scope="colgroup" colspan="${heads.length + 1}"><button type="button" data-fold aria-expanded="true">${name}</button>${says ? html` <span class="small">${says}</span>` : ''}</th></tr>${operators.map(each => lineOf.get(each))}</tbody>`)}
<tfoot><tr><th scope="row">cases</th>${sums.map(sum => html`<td>${count(sum)}</td>`)}</tr></tfoot></table>`;
}
// One cell, as in the page made beforehand: what passes of what was decided, marked with the worst verdict, and its notes.
const MOST_NOTES = 3;
function matrixCell(tally, tokens, label, other) {
  if (!tally.total) return html`<td class="empty"><span class="mute"><span class="hidden">${label}: no case</span><span aria-hidden="true">–</span></span></td>`;
  const places = name => table.verdicts.findIndex(each => each.name === name), present = place => tally.numbers[place];
  const failing = table.verdicts.map((_, place) => place).filter(place => place < FAILING && present(place));
  const [worst] = [...failing, ...['inexact', 'pass', 'document', 'unsupported', 'observed', 'limit', 'harness_error', 'not_run'].map(places)].filter(present);
  const verdict = table.verdicts[worst], passing = present(places('pass'));
  const decided = passing + failing.reduce((sum, place) => sum + present(place), 0);
  const notes = other ? [] : [...tally.notes].sort((one, two) => one - two);
  const said = table.verdicts.map((each, place) => [each, place]).filter(([, place]) => present(place)).map(([each, place]) => `${count(tally.numbers[place])} ${each.word}`).join(', ');
  const marks = notes.slice(0, notes.length > MOST_NOTES ? MOST_NOTES - 1 : MOST_NOTES).map(note => html`<a href="#note-${runPlace()}-${note}"><span class="hidden">note </span>${note}</a>`);
  const more = notes.length - marks.length;
  return html`<td class="f-${failing.length ? verdict.name : 'quiet'}"><div class="cell" title="${said}${notes.length ? `; notes ${notes.join(', ')}` : ''}"><span class="label">${label}</span><a class="first" href="${casesLink(...tokens, ...(decided ? [`${other ?? 'status'}:decided`] : []))}"><span class="v v-${verdict.name}">${sign(verdict)}<span class="hidden">${verdict.short}, </span></span>${decided ? html`<b>${count(passing)}</b> <span class="k">of ${count(decided)}</span>` : html`<span class="k">${count(tally.total)}</span>`}</a>${notes.length ? html`<span class="marks">${marks}${more > 0 ? html`<a class="more" data-notes="${notes.slice(marks.length).join(' ')}" href="${casesLink(...tokens, 'status:failing')}">+${more}<span class="hidden"> more notes</span></a>` : ''}</span>` : ''}</div></td>`;
}
// Arrow keys: left and right along the links of a row, up and down to the next row that has one there; Home and End.
function moveInMatrix(cell, target, key) {
  const row = cell.parentElement, links = findAll('a, button', row);
  const along = { ArrowLeft: links.indexOf(target) - 1, ArrowRight: links.indexOf(target) + 1, Home: 0, End: links.length - 1 };
  if (key in along) { links[along[key]]?.focus(); return true; }
  if (key !== 'ArrowUp' && key !== 'ArrowDown') return false;
  const rows = findAll('tbody tr', row.closest('table')).filter(each => each.checkVisibility());
  const column = row.classList.contains('domain') ? madeColumn : cell.cellIndex, by = key === 'ArrowDown' ? 1 : -1;
  for (let at = rows.indexOf(row) + by; rows[at]; at += by) {
    const { cells } = rows[at], found = find('a, button', cells[Math.min(column, cells.length - 1)]);
    if (found) { madeColumn = column; found.focus(); break; }
  }
  return true;
}
