// What is seen stands in the fragment of the address: #/PAGE?operator=…&q=…&by=…&attr=…&only=…&sort=…&order=…&name=…&case=…&note=…&of=…&theme=…
const PAGES = ['summary', 'operators', 'cases', 'readings', 'documents', 'adequacy', 'accuracy', 'time'];
const DEFAULTS = { page: 'summary', operator: '', q: '', by: 'type', attr: '', only: '', sort: '', order: '', name: '', case: '', note: '', of: '', theme: '' };
const state = { ...DEFAULTS };
let astray = ''; // What an address said of which there is no page.

function readState() {
  const { theme } = state;
  const noted = location.hash.match(/^#note-(\d+)-(\d+)$/);
  if (noted) {
    const run = Number(noted[1]);
    Object.assign(state, DEFAULTS, { note: noted[2], of: run ? directory.runs[run]?.[0] ?? '' : '', theme });
    return;
  }
  const found = location.hash.match(/^#\/([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/);
  if (location.hash && !found) return;
  Object.assign(state, DEFAULTS);
  astray = '';
  if (found) {
    const [, page, rest = '', said = ''] = found;
    if (PAGES.includes(page)) state.page = page;
    if (rest && page === 'operators') state.operator = new URLSearchParams(`rest=${rest}`).get('rest');
    else if (rest || page && state.page !== page) astray = rest ? `${page}/${rest}` : page;
    for (const [name, value] of new URLSearchParams(said)) if (name in DEFAULTS && name !== 'page') state[name] = value;
  }
  if (!['light', 'dark'].includes(state.theme)) state.theme = theme;
}
function link(change) {
  const next = { ...state, ...change };
  const said = new URLSearchParams();
  for (const name of Object.keys(DEFAULTS)) if (name !== 'page' && next[name] !== DEFAULTS[name]) said.set(name, next[name]);
  const text = said.toString().replace(/%3A/g, ':').replace(/%2F/g, '/').replace(/%2C/g, ',').replace(/\+/g, '%20');
  return `#/${next.page}${text ? `?${text}` : ''}`;
}
const casesLink = (...tokens) => link({ page: 'cases', operator: '', q: tokens.filter(Boolean).join(' '), case: '', sort: '', order: '', name: '', note: '' });
// Opening and filtering add an entry to the history; typing and stepping replace the one there is.
function go(change, replace) {
  const next = link(change);
  if (next === location.hash) return;
  if (!replace) { location.hash = next; return; }
  history.replaceState(null, '', next);
  show();
}
const runPlace = () => Math.max(0, directory.runs.findIndex(([key]) => key === state.of));
