/** Brings what a visitor's action brought into view: only where its beginning is not, and never against the visitor. */

const MOVED = ['wheel', 'touchmove', 'keydown', 'pointerdown']; // a visitor who goes on elsewhere is left there
const BEGINNING = 140; // px from the top of a result on that are to be in view: what follows belongs to it
const PATIENCE = 20_000; // ms until it is there
const SETTLING = 4000; // ms in which the page may still grow above it
const OFTEN = 100; // ms between two looks

/** Whether the beginning of a node can be read. */
export function inView(node) {
  const { top } = node.getBoundingClientRect();
  return top >= 0 && top + BEGINNING <= innerHeight;
}

/** Scrolls to a node, unless its beginning is in view; at once for those who want no motion. */
export function show(node, { block = 'start' } = {}) {
  if (inView(node)) return;
  const behavior = matchMedia('(prefers-reduced-motion: reduce)').matches ? 'instant' : 'smooth';
  node.scrollIntoView({ behavior, block });
}

/** Whether the visitor has stayed since this was called: `stays()`. `then` runs once when they go on; `end()` forgets it. */
export function attention(then = () => {}) {
  let stays = true;
  const end = () => MOVED.forEach((type) => removeEventListener(type, left, true));
  function left() {
    stays = false;
    end();
    then();
  }
  MOVED.forEach((type) => addEventListener(type, left, { passive: true, capture: true }));
  return { stays: () => stays, end };
}

/** Shows the node that `find` returns, as soon as it returns one, and again while the page grows above it. `focus` names what then takes the focus, and is thus read aloud: a function of the node. */
export function reveal(find, { focus = null } = {}) {
  let until = performance.now() + PATIENCE;
  let reached = false;
  const visitor = attention(stop);
  const timer = setInterval(look, OFTEN);
  function stop() {
    clearInterval(timer);
    visitor.end();
  }
  function look() {
    if (performance.now() > until) stop();
    const node = find();
    if (!node) return;
    if (!reached) {
      reached = true;
      until = performance.now() + SETTLING;
      if (focus) take(focus(node));
    }
    node.closest('details')?.setAttribute('open', '');
    show(node);
  }
}

/** Shows what the address names after `#`, where Python draws it only after the page has loaded, or within what is closed. */
export function revealNamed() {
  const name = named(location.hash.slice(1));
  const there = name && document.getElementById(name);
  if (name && (!there || there.closest('details:not([open])'))) reveal(() => document.getElementById(name), { focus: (node) => node.querySelector('h2') ?? node });
}

/** The name that a fragment stands for; '' where it is not well formed. */
function named(fragment) {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return '';
  }
}

function take(node) {
  if (!node.hasAttribute('tabindex')) node.tabIndex = -1;
  node.focus({ preventScroll: true });
}
