// The support matrix by something else than element type: that one stands in the page from the beginning.
const madeBefore = new Map();

async function showMatrix() {
  const place = runPlace(), box = find(`#matrix-${place}`);
  if (!madeBefore.has(place)) madeBefore.set(place, box.innerHTML);
  const columns = find('.columns', box.closest('.run'));
  for (const button of findAll('button', columns)) button.setAttribute('aria-pressed', String(button.dataset.by === state.by));
  const want = `${state.by} ${state.attr}`;
  const choice = find('select', columns);
  if (state.attr) choice.value = state.attr;
  if (box.dataset.shows === want) return;
  if (state.by !== 'type') await ready();
  if (`${state.by} ${state.attr}` !== want || place !== runPlace()) return;
  box.dataset.shows = want;
  if (state.by === 'type') { box.innerHTML = madeBefore.get(place); return; }
  put(box, state.by === 'runtime' ? runtimeMatrix() : columnMatrix(matrixColumns(choice.value)));
}
function matrixColumns(name) {
  if (state.by === 'family') return { title: 'family', key: 'family', codes: table.familyOf, names: table.families };
  const feature = table.features.get(name);
  return { title: name, key: name, codes: feature ? feature.codes : new Uint16Array(table.size), names: ['', ...(feature?.values ?? [])] };
}
const tallyOf = () => ({ numbers: new Array(table.verdicts.length).fill(0), notes: new Set(), total: 0 });
function add(tally, run, row) {
  tally.numbers[run.verdict[row]]++;
  tally.total++;
  if (run.note[row]) tally.notes.add(run.note[row]);
}
function columnMatrix({ title, key, codes, names }) {
  const run = runInQuestion();
  const cells = table.operators.map(() => ({ all: tallyOf(), by: names.map(tallyOf) })), feet = names.map(() => 0);
  for (let row = 0; row < table.size; row++) {
    const own = cells[table.operatorOf[row]];
    add(own.all, run, row);
    add(own.by[codes[row]], run, row);
    feet[codes[row]]++;
  }
  const used = names.map((name, place) => place).filter(place => names[place] !== '' && feet[place]);
  const line = (operator, own) => {
    const op = tokenText('op', operator.word);
    return html`<tr><th scope="row"><a href="${casesLink(op)}">${shortName(operator)}</a></th>${matrixCell(own.all, [op], 'all')}${used.map(place => matrixCell(own.by[place], [op, tokenText(key, names[place])], names[place]))}</tr>`;
  };
  return wholeMatrix(title, ['all', ...used.map(place => names[place])], used.length < 5, table.operators.map((operator, place) => [operator, line(operator, cells[place])]), [table.size, ...used.map(place => feet[place])]);
}
// Runs side by side: what each does, and in how many cases both were judged and differ.
function runtimeMatrix() {
  const mine = runInQuestion(), others = otherRuns(), pass = table.verdicts.findIndex(each => each.name === 'pass');
  const heads = [mine.label];
  const judged = (run, row) => fails(run, row) || run.verdict[row] === pass;
  const cells = table.operators.map(() => ({ mine: tallyOf(), others: others.map(() => ({ own: tallyOf(), pairs: [0, 0, 0, 0, 0] })) }));
  for (let row = 0; row < table.size; row++) {
    const own = cells[table.operatorOf[row]];
    add(own.mine, mine, row);
    others.forEach((other, place) => {
      add(own.others[place].own, other, row);
      const pair = !judged(mine, row) || !judged(other, row) ? 4 : 2 * fails(mine, row) + fails(other, row);
      own.others[place].pairs[pair]++;
    });
  }
  for (const other of others) heads.push(other.label, 'both pass', `only ${other.key} fails`, `only ${mine.key} fails`, 'both fail', 'not judged on both');
  const sums = [table.size];
  others.forEach((_, place) => sums.push(table.size, ...[0, 1, 2, 3, 4].map(pair => cells.reduce((sum, own) => sum + own.others[place].pairs[pair], 0))));
  const lines = table.operators.map((operator, number) => {
    const op = tokenText('op', operator.word), own = cells[number];
    return [operator, html`<tr><th scope="row"><a href="${casesLink(op)}">${shortName(operator)}</a></th>${matrixCell(own.mine, [op], mine.label)}${others.map((other, place) => {
      const { own: tally, pairs } = own.others[place];
      const queries = [['status:pass', `${other.key}:pass`], ['status:pass', `${other.key}:failing`], ['status:failing', `${other.key}:pass`], ['status:failing', `${other.key}:failing`], null];
      return [matrixCell(tally, [op], other.label, other.key), queries.map((query, pair) => html`<td class="f-quiet"><div class="cell"><span class="label">${heads[2 + 6 * place + pair]}</span>${pairs[pair] && query ? html`<a href="${casesLink(op, ...query)}">${count(pairs[pair])}</a>` : html`<span class="mute">${count(pairs[pair])}</span>`}</div></td>`)];
    })}</tr>`];
  });
  return wholeMatrix('runtime', heads, false, lines, sums);
}
const shortName = operator => operator.name.split('::')[1];
function wholeMatrix(title, heads, few, lines, sums) {
  const domains = [...new Set(lines.map(([operator]) => operator.name.split('::')[0]))].sort();
  return html`<table class="matrix${few ? ' few' : ''}"><caption class="hidden">Verdicts by operator version and ${title}</caption><thead><tr><th scope="col">operator</th>${heads.map(head => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${domains.map(domain => html`<tr class="domain"><th scope="colgroup" colspan="${heads.length + 1}">${domain}</th></tr>${lines.filter(([operator]) => operator.name.startsWith(`${domain}::`)).map(([, line]) => line)}`)}</tbody>
<tfoot><tr><th scope="row">cases</th>${sums.map(sum => html`<td>${count(sum)}</td>`)}</tr></tfoot></table>`;
}
// One cell, as in the page made beforehand: the worst verdict and its count of all that ran, then the others.
function matrixCell(tally, tokens, label, other) {
  if (!tally.total) return html`<td class="empty"><span class="mute"><span class="hidden">${label}: no case</span><span aria-hidden="true">–</span></span></td>`;
  const places = name => table.verdicts.findIndex(each => each.name === name);
  const failing = table.verdicts.map((_, place) => place).filter(place => place < FAILING && tally.numbers[place]);
  const order = [...failing, ...['pass', 'unsupported', 'observed', 'harness_error', 'not_run'].map(places)].filter(place => tally.numbers[place]);
  const worst = order[0], verdict = table.verdicts[worst];
  const ran = tally.total - tally.numbers[places('harness_error')] - tally.numbers[places('not_run')];
  const to = (...more) => casesLink(...tokens, ...more), status = place => `${other ?? 'status'}:${table.verdicts[place].name}`;
  const rest = order.slice(1).filter(place => table.verdicts[place].name !== 'pass' || !failing.length);
  const notes = other ? [] : [...tally.notes].sort((one, two) => one - two);
  return html`<td class="f-${failing.length ? verdict.name : 'quiet'}"><div class="cell" title="${order.map(place => `${count(tally.numbers[place])} ${table.verdicts[place].word}`).join(', ')}"><span class="label">${label}</span><a class="first" href="${to(status(worst))}">${verdictWord(verdict, true)}${notes.length ? html`<sup>${notes.join(' ')}</sup>` : ''}<span class="k">${count(tally.numbers[worst])}${failing.length ? ` of ${count(ran)}` : ''}</span></a>${rest.map(place => html`<a class="u" href="${to(status(place))}">${count(tally.numbers[place])} ${table.verdicts[place].short}</a>`)}</div></td>`;
}
