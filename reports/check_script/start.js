// The page of a check: the order of its nodes, and calls that open when something leads to them.
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const places = new Map(), CONFORMANT = '6';
function remember() {
  for (const row of all('#nodes tr[data-n]')) places.set(row, row.parentElement);
}
function flatTable() {
  let found = document.getElementById('flat');
  if (!found) {
    const first = document.querySelector('#nodes .scroll');
    if (!first) return null;
    found = first.cloneNode(true);
    found.id = 'flat';
    found.setAttribute('aria-label', 'Nodes, the worst first');
    found.querySelector('tbody').replaceChildren();
    document.getElementById('nodes').append(found);
  }
  return found;
}
function arrange(order) {
  const flat = order === 'model' ? null : flatTable();
  const rows = [...places.keys()];
  for (const block of all('#nodes .block')) block.hidden = flat !== null;
  if (flat) {
    rows.sort((a, b) => a.dataset.rank - b.dataset.rank || a.dataset.n - b.dataset.n);
    flat.querySelector('tbody').append(...rows);
    flat.hidden = false;
  } else {
    rows.sort((a, b) => a.dataset.n - b.dataset.n);
    for (const row of rows) places.get(row).append(row);
    const old = document.getElementById('flat');
    if (old) old.hidden = true;
  }
  for (const row of rows) row.hidden = order === 'odd' && row.dataset.rank === CONFORMANT;
  for (const button of all('#orders button')) button.setAttribute('aria-pressed', String(button.dataset.order === order));
}
function openTarget() {
  const order = /^#\/nodes=(worst|odd|model)$/.exec(location.hash);
  if (order) { arrange(order[1]); return; }
  const target = location.hash.startsWith('#call-') && document.getElementById(location.hash.slice(1));
  if (target) { target.open = true; target.scrollIntoView({ behavior: 'instant' }); }
}
function start() {
  document.documentElement.classList.add('js');
  remember();
  for (const button of all('#orders button')) button.addEventListener('click', () => { history.replaceState(null, '', `#/nodes=${button.dataset.order}`); arrange(button.dataset.order); });
  addEventListener('hashchange', openTarget);
  openTarget();
}
