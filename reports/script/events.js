// What clicks and keys do.
async function copyText(button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
  } catch {
    const area = document.createElement('textarea');
    area.value = button.dataset.copy;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
    button.focus();
  }
  button.textContent = 'Copied';
  find('#said').textContent = 'Copied';
  setTimeout(() => { button.textContent = before; find('#said').textContent = ''; }, 1400);
}
function step(by) {
  const next = list.rows[list.rows.indexOf(table?.place.get(state.case)) + by];
  if (state.page !== 'cases' || next === undefined) return;
  const place = list.rows.indexOf(next);
  if (place >= list.shown) { list.shown = place + 20; showRows(); }
  go({ case: table.ids[next] }, true);
}
function showMore() {
  const first = list.shown;
  list.shown += STEP;
  showRows();
  findAll('#list tbody tr a[href*="case="]')[first]?.focus();
}
function switchTheme() {
  const dark = state.theme ? state.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  go({ theme: dark ? 'light' : 'dark' }, true);
}
function onClick(event) {
  const target = event.target.closest('button, tr[data-case]');
  if (!target) return;
  const { dataset } = target;
  if ('copy' in dataset) copyText(target);
  else if ('fold' in dataset) fold(target);
  else if ('only' in dataset) go({ only: state.only ? '' : 'failing', note: '' }, true);
  else if ('order' in dataset) go({ order: dataset.order });
  else if ('by' in dataset) go({ by: dataset.by, note: '' });
  else if ('of' in dataset) { list.shown = STEP; go({ of: dataset.of === directory.runs[0][0] ? '' : dataset.of, note: '' }); }
  else if ('sort' in dataset) { list.shown = STEP; go({ sort: dataset.sort === 'verdict' ? '' : dataset.sort }, true); }
  else if ('token' in dataset) { list.shown = STEP; go({ q: toggleToken(state.q, dataset.token, dataset.value), case: '' }); }
  else if ('more' in dataset) showMore();
  else if ('skip' in dataset) (find('#list a') ?? find('#query')).focus();
  else if ('step' in dataset) step(Number(dataset.step));
  else if ('close' in dataset) { const dialog = target.closest('dialog'); if (dialog) dialog.close(); else go({ case: '' }); }
  else if (target.id === 'help-button') find('#help').showModal();
  else if (target.id === 'theme-button') switchTheme();
  else if ('case' in dataset && !event.target.closest('a') && !String(getSelection())) go({ case: dataset.case, note: '' });
}
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || find('#help').open) return;
  const { target, key } = event;
  if (key === 'Escape' && hideTip()) return;
  if (key === 'Escape' && state.case) { go({ case: '' }); return; }
  const cell = target.closest('.heat g[tabindex]');
  if (cell && key in ARROWS) { event.preventDefault(); moveInPicture(cell, key); return; }
  const place = target.closest('.matrix tbody :is(td, th)');
  if (place && moveInMatrix(place, target, key)) { event.preventDefault(); return; }
  const row = target.closest('.list tbody tr');
  if (row && (key === 'ArrowDown' || key === 'ArrowUp')) {
    const next = key === 'ArrowDown' ? row.nextElementSibling : row.previousElementSibling;
    if (next) { event.preventDefault(); find('a', next).focus(); }
    return;
  }
  // What is hidden keeps the focus until the page is drawn again: a dialog that was closed takes no keys.
  if (target.matches('input, select, textarea') && target.checkVisibility() || !find('#single-keys').checked) return;
  if (key === '/') { event.preventDefault(); find('#query').focus(); find('#query').select(); }
  else if (key === '?') find('#help').showModal();
  else if (state.case && (key === 'j' || key === 'k')) step(key === 'j' ? 1 : -1);
}
function listen() {
  addEventListener('hashchange', show);
  addEventListener('resize', () => { fitMatrix(); coverRest(); });
  document.addEventListener('contentvisibilityautostatechange', event => { if (!event.skipped) fitMatrix(); });
  document.addEventListener('click', onClick);
  document.addEventListener('keydown', onKey);
  document.addEventListener('focusin', showTip);
  for (const kind of ['focusout', 'pointerdown', 'wheel']) document.addEventListener(kind, hideTip, { passive: true });
  for (const kind of ['pointerover', 'focusin']) document.addEventListener(kind, event => pointAt(event.target));
  for (const choice of findAll('select[data-attribute]')) choice.addEventListener('change', () => go({ by: 'attribute', attr: choice.value, note: '' }));
  document.addEventListener('input', event => { if (event.target.id === 'operator-name') go({ name: event.target.value }, true); });
  const box = find('#query');
  box.addEventListener('focus', () => ready());
  box.addEventListener('input', async () => { await ready(); suggest(); searchSoon(false); });
  box.addEventListener('blur', () => setTimeout(closeSuggestions, 120));
  box.addEventListener('keydown', keyInBox);
  find('#suggestions').addEventListener('mousedown', event => {
    const name = event.target.closest('li');
    if (name) { event.preventDefault(); takeSuggestion(name.dataset.text); }
  });
}
