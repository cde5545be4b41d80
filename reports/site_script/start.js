// The first page is whole without this: it filters the table, and moves in it with the arrow keys.
const find = selector => document.querySelector(selector);
const findAll = (selector, within = document) => [...within.querySelectorAll(selector)];

function show() {
  const words = find('#seek').value.toLowerCase().split(/[\s,]+/).filter(Boolean), failing = find('#failing').checked;
  let shown = 0;
  for (const body of findAll('.map tbody:not(.all)')) {
    let some = false;
    for (const row of findAll('tr[data-name]', body)) {
      const name = row.dataset.name.toLowerCase();
      row.hidden = (failing && !('fails' in row.dataset)) || (words.length > 0 && !words.some(word => name.includes(word)));
      if (!row.hidden) { some = true; shown += 1; }
    }
    body.hidden = !some;
  }
  find('#found').textContent = words.length || failing ? `${shown} operator${shown === 1 ? '' : 's'}` : '';
}

function keep() {
  const state = new URLSearchParams();
  if (find('#seek').value) state.set('q', find('#seek').value);
  if (find('#failing').checked) state.set('only', 'wrong');
  history.replaceState(null, '', state.size ? `#?${state}` : location.pathname + location.search);
}

function restore() {
  if (location.hash && !location.hash.startsWith('#?')) return;
  const state = new URLSearchParams(location.hash.slice(2));
  find('#seek').value = state.get('q') ?? '';
  find('#failing').checked = state.get('only') === 'wrong';
  show();
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
  find('#seek').addEventListener('input', () => { show(); keep(); });
  find('#failing').addEventListener('change', () => { show(); keep(); });
  addEventListener('hashchange', restore);
  document.addEventListener('keydown', move);
  restore();
}
