// Where and how far values differ: expected, got and difference with the same cells, read by pointer or keys.
const EXACT_KEY = [['e0', 'equal'], ['e2', 'off by up to 10 % of the largest value'], ['e3', 'up to 40 %'], ['e4', 'up to 80 %'], ['e5', 'more']];
const RATIO_KEY = [['e0', 'equal'], ['e1', 'within the allowed error'], ['e2', 'up to 1.5 × allowed'], ['e3', 'up to 10 ×'], ['e4', 'up to 1000 ×'], ['e5', 'more']];
const CELL_HEIGHT = 24;
const LETTER = 6.6;
let pictureShown = null;

function pictureSection(whole) {
  // Planes without a wrong element show nothing; of those left out it is said how many there are.
  const planes = whole.planes.filter(({ levels }) => [...levels].some(level => level > 1)), equal = whole.planes.length - planes.length;
  return planes.length ? planesSection({ ...whole, planes }, equal) : planesSection(whole, 0);
}
function planesSection(picture, equal) {
  pictureShown = picture;
  const texts = picture.planes.flatMap(plane => [...plane.expected, ...plane.got, ...plane.apart]);
  const width = Math.min(170, Math.max(26, Math.max(...texts.map(text => text.length)) * LETTER + 9));
  // Got stands beside expected, plane by plane, as far as the width allows.
  const grid = (name, values, level, what) => (plane, place) => html`<div class="pair"><div>${name}${planeName(picture, plane) ? html` <span class="at">${planeName(picture, plane)}</span>` : ''}</div><div class="planes">${planeGrid(picture, place, values(plane), level, what, width)}</div></div>`;
  const grids = [grid('expected', plane => plane.expected, false, 'expected values'), grid('got', plane => plane.got, false, 'values got'), grid(picture.exact ? 'got minus expected' : 'error ÷ allowed', plane => plane.apart, true, 'difference; arrow keys move')];
  const whole = equal > 0 || picture.planes.reduce((sum, plane) => sum + plane.levels.length, 0) === picture.elements;
  return html`<section><h3>Where it differs</h3><p>${count(picture.wrong)} of ${plural(picture.elements, 'element')} of ${picture.output} ${picture.wrong === 1 ? 'is' : 'are'} wrong.${whole ? '' : ' Shown is the part around the worst one.'}${equal ? ` ${equal === 1 ? 'One plane' : `${count(equal)} planes`} in which none is ${equal === 1 ? 'is' : 'are'} left out.` : ''}</p>
${picture.overview ? overviewGrid(picture) : ''}
${picture.planes.map((plane, place) => html`<div class="grids across">${grids.map(each => each(plane, place))}</div>`)}
<output class="read" id="read">Point at an element, or move with the arrow keys, to read it.</output>
<ul class="key">${(picture.exact ? EXACT_KEY : RATIO_KEY).map(([level, text]) => html`<li><svg class="heat" viewBox="0 0 14 14" aria-hidden="true"><rect class="${level}" x=".5" y=".5" width="13" height="13"/></svg>${text}</li>`)}</ul>
<details class="small"><summary>As a table</summary>${wrongTable(picture)}</details></section>`;
}
// Where a plane stands in its tensor, `[0, 1, :, :]`, with the rows and columns where it is a part.
function planeName(picture, plane) {
  const [row, column] = plane.from, [rows, columns] = plane.size, last = picture.shape.slice(-2);
  const cut = last.length && rows * columns < last.reduce((product, each) => product * each, 1);
  const place = cut ? (last.length > 1 ? [`${row}:${row + rows}`, `${column}:${column + columns}`] : [`${column}:${column + columns}`]) : last.map(() => ':');
  return plane.at.length || cut ? `[${[...plane.at, ...place].join(', ')}]` : '';
}
function planeGrid(picture, number, texts, level, what, width) {
  const plane = picture.planes[number], [rows, columns] = plane.size, most = Math.floor((width - 6) / LETTER);
  const cell = (text, place) => {
    const x = (place % columns) * width, y = Math.floor(place / columns) * CELL_HEIGHT;
    const name = level ? html` tabindex="${number || place ? -1 : 0}" role="img" aria-label="${elementText(picture, number, place)}"` : '';
    return html`<g data-plane="${number}" data-place="${place}"${level ? html` class="e${plane.levels[place]}"` : ''}${name}><rect x="${x}" y="${y}" width="${width}" height="${CELL_HEIGHT}"/><text x="${x + width / 2}" y="${y + 16}">${text.length > most ? `${text.slice(0, most - 1)}…` : text}</text></g>`;
  };
  return html`<svg class="heat" width="${columns * width + 2}" height="${rows * CELL_HEIGHT + 2}" viewBox="-1 -1 ${columns * width + 2} ${rows * CELL_HEIGHT + 2}" role="${level ? 'group' : 'img'}" aria-label="${what}${planeName(picture, plane) ? `, ${planeName(picture, plane)}` : ''}">${texts.map(cell)}</svg>`;
}
// The whole plane in tiles, each as wrong as its worst element, with a frame around the part that is shown.
function overviewGrid(picture) {
  const { size: [rows, columns], tile: [height, width], levels, wrong } = picture.overview, [plane] = picture.planes, side = 14;
  const tiles = [...levels].map((level, place) => html`<rect class="e${level}" x="${(place % columns) * side}" y="${Math.floor(place / columns) * side}" width="${side}" height="${side}"><title>${`rows from ${Math.floor(place / columns) * height}, columns from ${(place % columns) * width}: ${count(wrong[place])} wrong`}</title></rect>`);
  const frame = html`<rect class="window" x="${plane.from[1] / width * side}" y="${plane.from[0] / height * side}" width="${plane.size[1] / width * side}" height="${plane.size[0] / height * side}"/>`;
  const name = `The whole plane in ${plural(levels.length, 'tile')} of ${height} by ${width} elements; ${count(wrong.filter(Boolean).length)} have wrong ones`;
  return html`<div class="grids"><div class="pair"><div>${plane.at.length ? `plane [${plane.at.join(', ')}]` : 'whole'}</div><div><svg class="heat" width="${columns * side + 2}" height="${rows * side + 2}" viewBox="-1 -1 ${columns * side + 2} ${rows * side + 2}" role="img" aria-label="${name}">${tiles}${frame}</svg><p class="mute small">${name}; the frame is the part below.</p></div></div></div>`;
}
function elementIndex(picture, number, place) {
  const plane = picture.planes[number], columns = plane.size[1];
  const last = [plane.from[0] + Math.floor(place / columns), plane.from[1] + (place % columns)];
  return `[${[...plane.at, ...last.slice(2 - Math.min(2, picture.shape.length))].join(', ')}]`;
}
const allowedAt = (plane, place) => (Array.isArray(plane.allowed) ? plane.allowed[place] : plane.allowed);
function elementText(picture, number, place) {
  const plane = picture.planes[number], allowed = allowedAt(plane, place), apart = plane.apart[place];
  const off = apart === '·' ? 'equal' : apart === '≠' ? 'not equal' : picture.exact ? `off by ${apart}` : `${apart} the allowed error`;
  return `${elementIndex(picture, number, place)}  expected ${plane.expected[place]}, got ${plane.got[place]}, allowed ${allowed ? `± ${allowed}` : 'none'}, ${off}`;
}
function wrongTable(picture) {
  const rows = picture.planes.flatMap((plane, number) => [...plane.levels].map((level, place) => (level > 1 ? html`<tr><th scope="row"><code>${elementIndex(picture, number, place)}</code></th><td class="num">${plane.expected[place]}</td><td class="num">${plane.got[place]}</td><td class="num">${allowedAt(plane, place) || 'none'}</td><td class="num">${plane.apart[place]}</td></tr>` : '')));
  return html`<div class="scroll" role="region" aria-label="What differs, as a table" tabindex="0"><table class="plain fit"><thead><tr><th scope="col">element</th><th scope="col" class="num">expected</th><th scope="col" class="num">got</th><th scope="col" class="num">allowed</th><th scope="col" class="num">${picture.exact ? 'difference' : 'error ÷ allowed'}</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}
// The same element is marked in all three grids and said in the line below.
function pointAt(target) {
  const cell = target.closest?.('#drawer .heat g[data-place]');
  for (const each of findAll('#drawer .heat g.point')) each.classList.remove('point');
  if (!cell || !pictureShown) return;
  const { plane, place } = cell.dataset;
  for (const each of findAll(`#drawer .heat g[data-plane="${plane}"][data-place="${place}"]`)) each.classList.add('point');
  find('#read').textContent = elementText(pictureShown, Number(plane), Number(place));
}
const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
function moveInPicture(cell, arrow) {
  const [down, right] = ARROWS[arrow], plane = pictureShown.planes[cell.dataset.plane], [rows, columns] = plane.size;
  const row = Math.floor(cell.dataset.place / columns) + down, column = (cell.dataset.place % columns) + right;
  if (row < 0 || row >= rows || column < 0 || column >= columns) return;
  const next = find(`#drawer .heat g[tabindex][data-plane="${cell.dataset.plane}"][data-place="${row * columns + column}"]`);
  cell.setAttribute('tabindex', -1);
  next.setAttribute('tabindex', 0);
  next.focus();
}
