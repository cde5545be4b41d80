// Text becomes markup here alone: whatever a template holds is escaped, unless it is markup already.
class Markup {
  constructor(text) { this.text = text; }
  toString() { return this.text; }
}
// What would hide or turn text is written out; the data has none of it, but an address may.
const HIDDEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
const escaped = text => String(text)
  .replace(HIDDEN, sign => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
  .replace(/[&<>"']/g, sign => `&#${sign.charCodeAt(0)};`);
function flat(value) {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Markup) return value.text;
  return Array.isArray(value) ? value.map(flat).join('') : escaped(value);
}
function html(pieces, ...values) {
  return new Markup(pieces.map((piece, place) => piece + (place < values.length ? flat(values[place]) : '')).join(''));
}
// What is put anew keeps the focus: on the button or link that is the same one.
const SAME_ELEMENT = ['data-head', 'data-token', 'data-value', 'data-step', 'data-close', 'data-skip', 'href'];
function put(element, content) {
  const { activeElement: before } = document, within = before !== element && element.contains(before);
  const same = within ? SAME_ELEMENT.filter(name => before.hasAttribute(name)).map(name => `[${name}="${CSS.escape(before.getAttribute(name))}"]`).join('') : '';
  element.innerHTML = flat(content);
  if (same) find(same, element)?.focus({ preventScroll: true });
}
function find(selector, within = document) { return within.querySelector(selector); }
function findAll(selector, within = document) { return [...within.querySelectorAll(selector)]; }

const NUMBERS = new Intl.NumberFormat('en');
const count = number => NUMBERS.format(number);
const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? '' : 's'}`;
const sign = verdict => html`<svg class="sign" aria-hidden="true"><use href="#sign-${verdict.name}"/></svg>`;
const verdictWord = (verdict, short) => html`<span class="v v-${verdict.name}">${sign(verdict)}${short ? verdict.short : verdict.word}</span>`;

// Times as the pages made beforehand print them.
function timeText(milliseconds) {
  if (milliseconds < 10) return `${Number(milliseconds.toPrecision(2))} ms`;
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1000).toFixed(milliseconds < 10000 ? 1 : 0)} s`;
}
// Error over allowed error: never 1.0 when it is more, nor when it is less.
function ratioText(ratio) {
  if (Number.isNaN(ratio)) return '';
  if (ratio === WRONG_SHAPE) return 'shape';
  if (ratio === Infinity) return 'not equal';
  if (ratio === 0) return '0';
  if (ratio <= 1) return ratio < 1 ? Math.min(ratio, 0.99).toFixed(2) : '1.00';
  if (ratio < 1.05) return `${ratio.toPrecision(5).replace(/0+$/, '')} ×`;
  if (ratio < 100) return `${ratio.toFixed(1)} ×`;
  return ratio < 1e7 ? `${count(Math.round(ratio))} ×` : `${ratio.toExponential(1).replace('+', '')} ×`;
}
