// The search box: suggestions for the token at the cursor, and a search that waits for a token to be whole.
const WAIT = 90;
const MOST_SUGGESTIONS = 10;
let waiting;

function suggest() {
  const box = find('#query'), names = find('#suggestions');
  const token = box.value.slice(0, box.selectionStart).match(/[!-]?([^\s"]*)$/)[1];
  const found = (token.includes(':') ? valueSuggestions(token) : token ? keySuggestions(token) : []).slice(0, MOST_SUGGESTIONS);
  names.hidden = !found.length || found.length === 1 && found[0][0] === token;
  box.setAttribute('aria-expanded', String(!names.hidden));
  box.removeAttribute('aria-activedescendant');
  put(names, found.map(([text, about], place) => html`<li role="option" id="suggestion-${place}" aria-selected="false" data-text="${text}"><code>${text}</code><span class="mute">${about}</span></li>`));
}
function keySuggestions(token) {
  return searchKeys().filter(key => key.startsWith(token)).map(key => [`${key}:`, table.features.has(key) ? 'attribute or level' : 'key']);
}
function valueSuggestions(token) {
  const [key] = token.split(':', 1), last = token.slice(key.length + 1).split(',').at(-1), head = token.slice(0, token.length - last.length);
  const numbers = new Map();
  const add = value => { if (value) numbers.set(value, (numbers.get(value) ?? 0) + 1); };
  const run = runInQuestion(), other = otherRuns().find(each => each.key === key), feature = table.features.get(key);
  for (let row = 0; row < table.size; row++) {
    if (key === 'status' || other) add(verdictOf(other ?? run, row).name);
    else if (key === 'known' && run.held) add(KNOWN[run.known[row]]);
    else if (key === 'same') add(SAME[table.same[row]]);
    else if (key === 'op') add(table.operators[table.operatorOf[row]].word);
    else if (key === 'type') add(table.types[table.typeOf[row]]);
    else if (key === 'family') add(table.families[table.familyOf[row]]);
    else if (key === 'note') add(run.note[row] && String(run.note[row]));
    else if (key === 'rule') add(table.rules[table.ruleOf[row]]);
    else if (key === 'reading') for (const told of run.readings[run.reading[row]].split(';')) add(told);
    else if (feature) add(feature.codes[row] && feature.values[feature.codes[row] - 1]);
  }
  const found = [...numbers].filter(([value]) => value.startsWith(last)).sort((one, two) => two[1] - one[1]);
  return found.map(([value, number]) => [head + tokenText(key, value).slice(key.length + 1), count(number)]);
}
function takeSuggestion(text) {
  const box = find('#query'), cursor = box.selectionStart;
  const before = box.value.slice(0, cursor).replace(/([!-]?)[^\s"]*$/, (_, not) => not + text);
  const after = text.endsWith(':') ? '' : ' ';
  box.value = before + after + box.value.slice(cursor).trimStart();
  box.focus();
  box.setSelectionRange(before.length + after.length, before.length + after.length);
  suggest();
  if (after) searchSoon(true);
}
// What is typed becomes the search after a moment; a half-typed token at its end waits, Enter takes it all.
function searchSoon(whole) {
  clearTimeout(waiting);
  waiting = setTimeout(async () => {
    await ready();
    const typed = find('#query').value, text = (whole ? typed : withoutHalf(typed)).trim();
    if (text === state.q && state.page === 'cases') return;
    list.shown = STEP;
    go({ page: 'cases', q: text, case: '', note: '' }, state.page === 'cases');
  }, WAIT);
}
function withoutHalf(text) {
  return text.replace(/(?:^|\s)[!-]?([A-Za-z_][\w.()/-]*)(:?)([^\s]*)$/, (whole, key, colon, value) => {
    const keys = searchKeys().filter(each => each.startsWith(key));
    if (!colon) return keys.length ? '' : whole;
    const feature = table.features.get(key);
    return !value || feature && !feature.values.includes(value) && feature.values.some(each => each.startsWith(value)) ? '' : whole;
  });
}
function closeSuggestions() {
  find('#suggestions').hidden = true;
  find('#query').setAttribute('aria-expanded', 'false');
}
function keyInBox(event) {
  const names = findAll('#suggestions li'), open = !find('#suggestions').hidden;
  const chosen = names.findIndex(each => each.getAttribute('aria-selected') === 'true');
  if (open && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
    event.preventDefault();
    const next = chosen < 0 ? (event.key === 'ArrowDown' ? 0 : names.length - 1) : (chosen + (event.key === 'ArrowDown' ? 1 : -1) + names.length) % names.length;
    names.forEach((each, place) => each.setAttribute('aria-selected', String(place === next)));
    find('#query').setAttribute('aria-activedescendant', `suggestion-${next}`);
  } else if (event.key === 'Enter') {
    event.preventDefault();
    if (open && chosen >= 0) takeSuggestion(names[chosen].dataset.text);
    else { closeSuggestions(); searchSoon(true); }
  } else if (event.key === 'Escape') {
    event.stopPropagation();
    if (open) closeSuggestions(); else find('#query').blur();
  }
}
