// The page: what stands in the address is shown. Everything above declares; only `start` acts.
let opening = null, noteShown = '';
function ready() {
  opening ??= openTable();
  return opening;
}
async function show() {
  const before = state.page, first = !document.documentElement.dataset.ready;
  readState();
  if (state.page !== before) scrollTo({ top: 0, behavior: 'instant' });
  if (location.hash && location.hash !== link({}) && !(location.hash === '#/' || location.hash === '#/summary')) history.replaceState(null, '', link({}));
  const root = document.documentElement, place = runPlace(), lost = find('#astray');
  lost.hidden = !astray;
  put(lost, astray ? html`This report has no page ${astray}; this is its summary.` : '');
  if (state.theme) root.dataset.theme = state.theme; else delete root.dataset.theme;
  for (const section of findAll('section.page')) section.classList.toggle('on', section.dataset.page === state.page);
  for (const each of findAll('a[data-page]')) {
    each.href = link({ page: each.dataset.page, operator: '', order: '', name: '', case: '', note: '' });
    if (each.closest('nav')) { if (each.dataset.page === state.page) each.setAttribute('aria-current', 'page'); else each.removeAttribute('aria-current'); }
  }
  for (const run of findAll('.run')) run.hidden = Number(run.dataset.run) !== place;
  for (const button of findAll('#runs button')) button.setAttribute('aria-pressed', String(button.dataset.of === directory.runs[place][0]));
  const box = find('#query');
  if (document.activeElement !== box) box.value = state.q;
  showTitle(place);
  if (state.page === 'summary') { await showMatrix(); showNote(place); find('#h-support-0:target')?.scrollIntoView({ behavior: 'instant' }); }
  if (state.page === 'operators') await showOperators();
  if (state.page === 'cases') { await ready(); if (state.page === 'cases') showList(); }
  if (!first && state.page !== before && (document.activeElement === document.body || !document.activeElement.checkVisibility())) find('#main').focus({ preventScroll: true });
  await showDrawer();
  root.dataset.ready = String(Number(root.dataset.ready ?? 0) + 1);
}
function showNote(place) {
  for (const each of findAll('.class.hit')) each.classList.remove('hit');
  const note = state.note && document.getElementById(`note-${place}-${state.note}`);
  if (!note) { noteShown = ''; return; }
  note.classList.add('hit');
  note.open = true;
  const further = note.closest('.further');
  if (further) further.open = true;
  note.scrollIntoView({ behavior: 'instant' });
  if (note.id !== noteShown) find('summary', note).focus({ preventScroll: true });
  noteShown = note.id;
}
function showTitle(place) {
  const about = state.page === 'operators' && state.operator ? state.operator.split('::').at(-1) : state.case ? state.case.slice(state.case.indexOf('/') + 1) : state.page === 'summary' ? '' : state.page[0].toUpperCase() + state.page.slice(1);
  document.title = `${about ? `${about} · ` : ''}${directory.runs[place][1]} · opcert report`;
}
function addCopyButtons() {
  for (const box of findAll('main .command')) {
    const button = document.createElement('button'), text = find('code', box).textContent;
    Object.assign(button, { type: 'button', className: 'button', textContent: 'Copy' });
    button.dataset.copy = text;
    button.setAttribute('aria-label', `Copy: ${text}`);
    box.append(button);
  }
}
function start() {
  document.documentElement.classList.add('js');
  // Without a script a link to a page leads to its section; with one it must not scroll there.
  for (const section of findAll('section.page')) { section.dataset.page = section.id.slice(1); section.removeAttribute('id'); }
  if (innerWidth <= BESIDE) find('#facets-box').open = false;
  addCopyButtons();
  listen();
  show();
}
