// Filters beside the list: each counts without its own token, and toggles it.
const MOST_VALUES = 12;
const MOST_FURTHER = 4;

function showFacets() {
  const run = runInQuestion();
  const facets = [
    ['verdict', 'status', run.verdict, table.verdicts.map(each => [each.name, each.word])],
    ...(run.held ? [['known failures', 'known', run.known, [null, ['waiver', 'waived'], ['baseline', 'in the baseline'], ['expired', 'expired'], ['no', 'neither']]]] : []),
    ...(table.runs.length > 1 ? [['same on all runs', 'same', table.same, [null, ['yes', 'yes'], ['no', 'no']]]] : []),
    ['operator', 'op', table.operatorOf, table.operators.map(each => [each.word, each.word])],
    ['note', 'note', run.note, [null, ...run.classes.map((each, place) => [place + 1, `${place + 1} ${noteName(each)}`])]],
    ['element type', 'type', table.typeOf, table.types.map(each => [each, each])],
    ['family', 'family', table.familyOf, table.families.map(each => [each, each])],
    ...furtherFacets(),
  ];
  put(find('#facets'), facets.map(([title, key, codes, names]) => facet(title, key, codes, names)));
}
// What tells one note from the others: many have one verb.
function noteName({ verb, text }) {
  return text.startsWith(`${verb}: `) ? text.slice(verb.length + 2) : text;
}
// Attributes and levels in which the cases found differ, once the search is about an operator or a note.
function furtherFacets() {
  if (!list.search.tokens.some(each => ['op', 'note'].includes(each.key)) || !list.rows.length) return [];
  const used = list.search.tokens.map(each => each.key), found = [];
  for (const { name, codes, values } of table.features.values()) {
    if (name.includes('(') && !used.includes(name)) continue;
    const first = codes[list.rows[0]];
    const differ = list.rows.every(row => codes[row]) && list.rows.some(row => codes[row] !== first);
    if (differ || used.includes(name)) found.push([name, name, codes, [null, ...values.map(each => [each, each])]]);
  }
  return found.sort((one, two) => used.includes(two[1]) - used.includes(one[1])).slice(0, MOST_FURTHER);
}
function facet(title, key, codes, names) {
  const rest = list.search.without(key), numbers = new Array(names.length).fill(0);
  for (let row = 0; row < rest.length; row++) if (!rest[row]) numbers[codes[row]]++;
  const chosen = list.search.tokens.filter(each => each.key === key && !each.not).flatMap(each => each.values);
  const entries = names.map((name, place) => name && { value: name[0], word: name[1], number: numbers[place] }).filter(each => each && each.number);
  if (!entries.length) return '';
  const shown = entries.length > 2 * MOST_VALUES && key !== 'op' && key !== 'note' ? entries.sort((one, two) => two.number - one.number).slice(0, MOST_VALUES) : entries;
  return html`<div class="facet"><h2>${title}</h2>${shown.map(each => html`<button type="button" data-token="${key}" data-value="${each.value}" title="${each.word}" aria-pressed="${chosen.includes(String(each.value)) ? 'true' : 'false'}"><span>${each.word}</span><span class="c">${count(each.number)}</span></button>`)}${shown.length < entries.length ? html`<span class="mute small">and ${count(entries.length - shown.length)} more</span>` : ''}</div>`;
}
