// The pages are whole without this: it filters operators or causes, orders columns, and moves in the table with arrow keys.
const find = selector => document.querySelector(selector);
const findAll = (selector, within = document) => [...within.querySelectorAll(selector)];
// Where one of them is not on a page, nobody has chosen anything with it.
const CHOICES = { q: ['#seek', 'value', ''], only: ['#failing', 'checked', false], columns: ['#order', 'value', ''] };

// Of operators those that have one of the words, of causes those that have all.
function show() {
  const words = find('#seek').value.toLowerCase().split(/[\s,]+/).filter(Boolean), failing = find('#failing')?.checked, operators = find('.map') !== null;
  let shown = 0;
  for (const group of findAll('[data-group]')) {
    let some = false;
    for (const each of findAll('[data-name]', group)) {
      const name = each.dataset.name.toLowerCase(), has = word => name.includes(word);
      each.hidden = (failing && !('fails' in each.dataset)) || (words.length > 0 && !(operators ? words.some(has) : words.every(has)));
      if (!each.hidden) { some = true; shown += 1; }
    }
    group.hidden = !some;
  }
  find('#found').textContent = words.length || failing ? `${shown} ${operators ? 'operator' : 'cause'}${shown === 1 ? '' : 's'}` : '';
  if (operators) orderColumns(find('#order').value);
}

// As they stand in the page, or the most first.
function orderColumns(by) {
  const heads = findAll('.map thead th').slice(1);
  heads.forEach((head, place) => { head.dataset.place ??= place; });
  const number = (head, name) => Number(head.dataset[name]);
  const order = [...heads].sort((one, two) => (by ? number(two, by) - number(one, by) : 0) || number(one, 'place') - number(two, 'place')).map(head => heads.indexOf(head));
  if (order.every((from, to) => from === to)) return;
  for (const row of findAll('.map tr')) {
    const cells = [...row.cells].slice(1);
    if (cells.length === heads.length) row.append(...order.map(place => cells[place]));
  }
}

function keep() {
  const state = new URLSearchParams();
  for (const [name, [place, kind, unset]] of Object.entries(CHOICES)) {
    const chosen = find(place)?.[kind] ?? unset;
    if (chosen !== unset) state.set(name, chosen === true ? 'wrong' : chosen);
  }
  history.replaceState(null, '', state.size ? `#?${state}` : location.pathname + location.search);
  for (const each of findAll('.versions a')) each.hash = state.size ? `?${state}` : '';
}

function restore() {
  if (location.hash && !location.hash.startsWith('#?')) return;
  const state = new URLSearchParams(location.hash.slice(2));
  for (const [name, [place, kind, unset]] of Object.entries(CHOICES)) {
    const element = find(place), said = state.get(name);
    if (!element) continue;
    element[kind] = kind === 'checked' ? said === 'wrong' : said ?? unset;
    if (element.selectedIndex === -1) element.selectedIndex = 0;
  }
  show();
  for (const each of findAll('.versions a')) each.hash = location.hash.slice(1);
}

function move(event) {
  const cell = event.target.closest?.('.map td, .map tbody th'), step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (!cell || !step || event.ctrlKey || event.altKey || event.metaKey) return;
  const rows = findAll('.map tr').filter(row => !row.closest('[hidden]'));
  let row = rows.indexOf(cell.parentElement), column = cell.cellIndex, link = null;
  do {
    row += step[0];
    column += step[1];
    link = rows[row]?.cells[column]?.querySelector('a') ?? null;
  } while (!link && rows[row] && column >= 0 && column < cell.parentElement.cells.length);
  if (!link) return;
  event.preventDefault();
  link.focus();
}

function start() {
  document.documentElement.classList.add('js');
  for (const [place] of Object.values(CHOICES)) find(place)?.addEventListener('input', () => { show(); keep(); });
  addEventListener('hashchange', restore);
  document.addEventListener('keydown', move);
  restore();
}
