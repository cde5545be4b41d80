// One case beside the list: what happened, how to see it again, where it differs, why that is expected.
const SAYS = {
  pass: 'The answer is what the documents say.',
  unsupported: 'The runtime says itself that it cannot do this. That is neither a pass nor a failure.',
  observed: 'Nothing is demanded here but survival: the documents leave the result open.',
  not_run: 'This case was not run. It counts for nothing.',
  harness_error: 'opcert itself failed on this case, or the worker did. It counts for nothing.',
};
const BESIDE = 1180; // Up to this width the drawer lies over the list, as widths.css has it.
let returnTo = '';

async function showDrawer() {
  const drawer = find('#drawer');
  document.body.classList.toggle('open', state.case !== '');
  if (!state.case) { closeDrawer(drawer); return; }
  await ready();
  const row = table.place.get(state.case), id = state.case;
  if (row === undefined) {
    put(drawer, html`<div class="bar"><span class="space"></span><button class="button" type="button" data-close>Close</button></div><h2 tabindex="-1">${wholeList() ? 'This case is not listed here' : 'No such case in this report'}</h2><p>The link names <code>${id}</code>. ${wholeList() ? html`Where it was run, <a href="${wholeList()}">${wholeList()}</a> beside this page has it. ` : ''}A case id ends in the digest of its content: a changed case has another id.</p>`);
    drawer.hidden = false;
    coverRest();
    find('h2', drawer).focus({ preventScroll: true });
    return;
  }
  let detail = null, problem = '';
  try { detail = await detailOf(row); } catch (error) { problem = error.message; }
  if (state.case !== id) return;
  pictureShown = null;
  const told = `${id} ${runPlace()}`, fresh = drawer.hidden || drawer.dataset.shows !== told;
  put(drawer, [drawerBar(row), drawerHead(row, detail, problem), answerSections(detail), whySection(row, detail), callSection(row, detail), wordsSection(detail), reproduceSection(id, detail), othersSection(row)]);
  drawer.hidden = false;
  drawer.dataset.shows = told;
  if (fresh) drawer.scrollTop = 0;
  if (fresh && drawer.contains(document.activeElement)) find('#said').textContent = id;
  else if (fresh) find('h2', drawer).focus({ preventScroll: true });
  coverRest();
  returnTo = id;
  for (const each of findAll('tr.current')) each.classList.remove('current');
  const line = find(`tr[data-case="${CSS.escape(id)}"]`);
  line?.classList.add('current');
  line?.scrollIntoView({ block: 'nearest' });
}
function closeDrawer(drawer) {
  if (drawer.hidden) return;
  drawer.hidden = true;
  coverRest();
  (find(`tr[data-case="${CSS.escape(returnTo)}"] a`) ?? find('#main')).focus();
}
// Where the drawer lies over the page, nothing below it takes the focus.
function coverRest() {
  const covered = !find('#drawer').hidden && innerWidth <= BESIDE;
  for (const each of findAll('body > :is(header, main, footer)')) each.inert = covered;
}
function drawerBar(row) {
  const place = list.rows.indexOf(row), last = list.rows.length - 1;
  return html`<div class="bar"><button class="button" type="button" data-step="-1"${place > 0 ? '' : html` disabled`}>Previous</button><button class="button" type="button" data-step="1"${place >= 0 && place < last ? '' : html` disabled`}>Next</button><span class="mute">${place >= 0 ? `${count(place + 1)} of ${count(list.rows.length)}` : ''}</span><span class="space"></span><button class="button" type="button" data-copy="${location.href}">Copy link</button><button class="button" type="button" data-close>Close</button></div>`;
}
function drawerHead(row, detail, problem) {
  const run = runInQuestion(), verdict = verdictOf(run, row), note = run.note[row], own = detail?.runs[runPlace()], time = run.time[row], excuse = excuseOf(run, row);
  const reason = run.reasons[run.reason[row]], found = note ? run.classes[note - 1] : null;
  return html`<h2 tabindex="-1"><code>${table.ids[row]}</code></h2><p>${verdictWord(verdict)} <span class="mute">·</span> ${table.types[table.typeOf[row]]} <span class="mute">·</span> ${table.families[table.familyOf[row]]} <span class="mute">·</span> <a href="${operatorLink(table.operators[table.operatorOf[row]].name)}">operator</a>${note ? html` <span class="mute">·</span> <a href="${link({ page: 'summary', note: String(note), case: '' })}">note ${note}</a>` : ''}${Number.isNaN(time) ? '' : html` <span class="mute">· ${timeText(time)}</span>`}</p>
<p>${own?.sentence ?? html`${SAYS[verdict.name] ?? ''}${verdict.name === 'pass' && run.ratio[row] > 0 ? ` The worst element is at ${ratioText(run.ratio[row])} of its allowed error.` : ''}`}</p>
${own ? '' : reason ? html`<p class="mute">${reason}</p>` : ''}${own?.resembles ? html`<p>${own.resembles}</p>` : ''}${problem ? html`<p class="warning">${problem}</p>` : ''}
${excuse ? html`<p class="excuse">${found ? withoutText(excuse.sentence, found.text) : excuse.sentence}${excuse.link ? html`, ${excuse.leads ? html`<a href="${excuse.link}" rel="noreferrer">${excuse.link}</a>` : excuse.link}` : ''}</p>` : ''}
${found ? html`<p>Note ${note}: ${found.text.replace(/\.+$/, '')}.${found.smallest === table.ids[row] ? ' This is its smallest case.' : html` Its smallest case is <a href="${link({ case: found.smallest })}">${found.smallest.slice(found.smallest.indexOf('/') + 1)}</a>.`}</p>` : ''}`;
}
const copied = text => html`<div class="command"><pre><code>${text}</code></pre><button class="button" type="button" data-copy="${text}">Copy</button></div>`;
// The reason of a baseline's entry may be the text of the note, which stands below it.
const withoutText = (sentence, text) => (sentence.endsWith(`: ${text}`) ? sentence.slice(0, -text.length - 2) : sentence);
// The lines of the case between those of the runtime; none where either is not known.
function wholeScript(detail) {
  const [kind, ...lines] = detail?.script ?? [], around = directory.runs[runPlace()][2][kind];
  return around ? [...around[0], ...lines, ...around[1]].join('\n') : '';
}
function reproduceSection(id, detail) {
  const script = wholeScript(detail);
  return html`<section><h3>Reproduce</h3>${copied(directory.command.join(id) + (detail?.runs[runPlace()]?.form ? ` --form ${detail.runs[runPlace()].form}` : ''))}${script ? html`<details><summary class="small">Script without opcert</summary>${copied(script)}</details>` : detail ? html`<p class="mute small">The folder that the command writes holds a script that needs no opcert; the tensors of this case are too many for one to copy, or of a type that it cannot write.</p>` : ''}</section>`;
}
const described = parts => parts.map(([name, text, type]) => html`<dt>${name}</dt><dd class="mono">${type ? html`<span class="mute">${type}</span> ` : ''}${text}</dd>`);
function answerSections(detail) {
  const own = detail?.runs[runPlace()];
  if (!detail) return '';
  return [own?.picture ? pictureSection(own.picture) : '', html`<section><h3>Expected and got</h3><dl class="kv">${described(own?.got ?? [])}${described(detail.expected)}${described(own?.worst ?? [])}</dl></section>`];
}
function callSection(row, detail) {
  const run = runInQuestion(), named = noteFeatures(run, row), note = run.note[row];
  const marked = (name, value) => (named.includes(name) ? html`<mark>${value}</mark> <span class="mute">in note ${note}</span>` : value);
  const features = [...table.features.keys()].filter(name => featureOf(row, name) !== undefined);
  const levels = features.map(name => html`${name}=${named.includes(name) ? html`<mark>${featureOf(row, name)}</mark>` : featureOf(row, name)} `);
  if (!detail) return html`<section><h3>Attributes and levels</h3><p class="mono small">${levels}</p><p class="mute small">Tensors of cases that fail nowhere are not kept in the report; the command above writes them.</p></section>`;
  return html`<section><h3>Attributes and inputs</h3><dl class="kv">${detail.attributes.map(([name, value]) => html`<dt>${name}</dt><dd class="mono">${marked(name, value)}</dd>`)}${described(detail.inputs)}</dl><details class="small"><summary>Levels and features of this case</summary><p class="mono">${levels}</p></details></section>`;
}
const MOST_PASSAGES = 3;
const passageText = ([where, text, address]) => html`<div class="passage">${text ? html`<blockquote>${text}</blockquote>` : ''}<p class="mute small">${where}${address ? html` · <a href="${address}" rel="noreferrer">public page</a>` : ''}</p></div>`;
function whySection(row, detail) {
  const run = runInQuestion(), told = run.readings[run.reading[row]], own = detail?.runs[runPlace()];
  const near = fails(run, row) ? closestPassing(run, row) : null;
  const parts = [...(detail?.rules ?? []), ...(own?.circumstances ?? [])], passages = detail?.passages ?? [];
  if (!parts.length && !passages.length && !told && !near) return '';
  return html`<section><h3>Why this is expected</h3>${passages.slice(0, MOST_PASSAGES).map(passageText)}${passages.length > MOST_PASSAGES ? html`<details class="small"><summary>${plural(passages.length - MOST_PASSAGES, 'more passage')}</summary>${passages.slice(MOST_PASSAGES).map(passageText)}</details>` : ''}<dl class="kv">${described(parts)}${told ? html`<dt>readings followed</dt><dd>${told.split(';').join('; ')}. <a href="${link({ page: 'readings', case: '' })}">All readings</a></dd>` : ''}${near ? html`<dt>closest passing case</dt><dd><a href="${link({ case: table.ids[near.row] })}">${table.ids[near.row].slice(table.ids[near.row].indexOf('/') + 1)}</a>, which differs in ${near.differs.map((each, place) => html`${place ? ', ' : ''}<code>${each}=${featureOf(near.row, each) ?? 'absent'}</code>`)}</dd>` : ''}</dl></section>`;
}
const MOST_DIFFERENCES = 5;
// The passing case of the same operator version and demand that differs in the fewest features.
function closestPassing(run, row) {
  const features = [...table.features.values()], invalid = table.ruleOf[row] > 0;
  let best = null;
  for (let other = 0; other < table.size; other++) {
    if (table.operatorOf[other] !== table.operatorOf[row] || verdictOf(run, other).name !== 'pass' || table.ruleOf[other] > 0 !== invalid) continue;
    let number = table.typeOf[other] === table.typeOf[row] ? 0 : 1;
    for (const { codes } of features) { if (codes[other] !== codes[row]) number++; if (best && number >= best.number) break; }
    if (!best || number < best.number) best = { row: other, number };
  }
  if (!best || !best.number || best.number > MOST_DIFFERENCES) return null;
  const differs = features.filter(({ codes }) => codes[best.row] !== codes[row]).map(each => each.name);
  if (table.typeOf[best.row] !== table.typeOf[row]) differs.push('element_type');
  return { row: best.row, differs };
}
function wordsSection(detail) {
  const messages = detail?.runs[runPlace()]?.messages ?? [];
  return messages.length ? html`<section><h3>What the runtime said</h3>${messages.map(([name, text]) => html`<p class="mute small">${name}</p><pre class="message"><samp>${text}</samp></pre>`)}</section>` : '';
}
function othersSection(row) {
  if (table.runs.length < 2) return '';
  return html`<section><h3>The same case on the other runs</h3><dl class="kv">${table.runs.map((run, place) => html`<dt>${run.label}</dt><dd>${verdictWord(verdictOf(run, row))} <span class="mute">${ratioText(run.ratio[row])}</span>${place === runPlace() ? '' : html` <a href="${link({ of: place ? run.key : '', q: '', note: '' })}">see it there</a>`}${fails(run, row) ? '' : run.reason[row] ? html`<br><span class="mute small">${run.reasons[run.reason[row]]}</span>` : ''}</dd>`)}</dl></section>`;
}
