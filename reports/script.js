'use strict';
// Everything is readable without this. It adds a button that copies each command, and opens what a link leads to
// in browsers that do not open a closed <details> by themselves.
(() => {
  const said = document.getElementById('said');
  for (const box of document.querySelectorAll('.command')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = 'Copy';
    const text = box.querySelector('code').textContent;
    button.setAttribute('aria-label', 'Copy: ' + text);
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = 'Copied';
        said.textContent = 'Copied';
      } catch {
        getSelection().selectAllChildren(box.querySelector('code'));
        button.textContent = 'Selected';
        said.textContent = 'Selected; copy with the keyboard';
      }
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    });
    box.append(button);
  }
  const reveal = () => {
    let id;
    try { id = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    const target = id && document.getElementById(id);
    if (!target) return;
    let closed = null;
    for (let each = target; each; each = each.parentElement) {
      if (each instanceof HTMLDetailsElement && !each.open) { each.open = true; closed = each; }
    }
    if (closed) target.scrollIntoView();
  };
  addEventListener('hashchange', reveal);
  reveal();
})();
