// What a pointer sees as a title is shown beside the focus, too; Escape puts it away.
function showTip({ target }) {
  hideTip();
  const told = target.matches(':focus-visible') ? target.closest('.matrix [title], .facet [title]') : null;
  if (!told) return;
  const tip = find('#tip'), place = told.getBoundingClientRect();
  tip.textContent = told.title;
  tip.hidden = false;
  target.setAttribute('aria-describedby', 'tip');
  const below = place.bottom + 6, fits = below + tip.offsetHeight < innerHeight;
  tip.style.left = `${Math.max(4, Math.min(place.left, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${fits ? below : place.top - tip.offsetHeight - 6}px`;
}
function hideTip() {
  const tip = find('#tip'), shown = !tip.hidden;
  tip.hidden = true;
  find('[aria-describedby=tip]')?.removeAttribute('aria-describedby');
  return shown;
}
