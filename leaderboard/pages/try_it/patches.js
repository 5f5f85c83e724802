/** Two images under grids of patches: the patch under the pointer in one, and how similar the patches of the other are. */

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** Listens within `element`, whose markup Python renews; draws each new pair of images once. */
export function mount(element) {
  if (element.dataset.patches) return;
  element.dataset.patches = 'true';
  const look = () => {
    const root = element.querySelector('.cp-patches:not([data-drawn])');
    if (root) new PatchMaps(root).start();
  };
  new MutationObserver(look).observe(element, { childList: true, subtree: true });
  look();
}

class PatchMaps {
  constructor(root) {
    this.root = root;
    this.ranks = Uint8Array.from(atob(root.dataset.ranks), (sign) => sign.charCodeAt(0));
    this.sides = [...root.querySelectorAll('.cp-side')].map((node) => ({
      node, canvas: node.querySelector('canvas'), rows: Number(node.dataset.rows), columns: Number(node.dataset.columns), at: 0,
    }));
    this.status = root.parentElement.querySelector('.cp-legend + [role=status]');
  }

  start() {
    const { root, sides } = this;
    root.dataset.drawn = 'true';
    root.removeAttribute('data-ranks');
    sides.forEach((side, image) => {
      Object.assign(side.canvas, { width: side.columns, height: side.rows });
      side.canvas.addEventListener('pointermove', (event) => this.choose(image, this.under(side, event)));
      side.canvas.addEventListener('pointerleave', () => this.rest());
      side.canvas.addEventListener('blur', () => this.rest());
      side.canvas.addEventListener('keydown', (event) => this.step(event, image));
    });
    this.rest();
  }

  /** The rank of a pair of patches, 0..255: `one` of the first image, `other` of the second. */
  rank(one, other) {
    return this.ranks[one * this.sides[1].rows * this.sides[1].columns + other];
  }

  count(image) {
    return this.sides[image].rows * this.sides[image].columns;
  }

  under(side, event) {
    const box = side.canvas.getBoundingClientRect();
    const across = Math.min(side.columns - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * side.columns)));
    const down = Math.min(side.rows - 1, Math.max(0, Math.floor(((event.clientY - box.top) / box.height) * side.rows)));
    return down * side.columns + across;
  }

  step(event, image) {
    const move = STEPS[event.key];
    if (!move) return;
    event.preventDefault();
    const side = this.sides[image];
    const row = Math.min(side.rows - 1, Math.max(0, Math.floor(side.at / side.columns) + move[0]));
    const column = Math.min(side.columns - 1, Math.max(0, (side.at % side.columns) + move[1]));
    this.choose(image, row * side.columns + column);
  }

  /** Marks one patch, and shows in the other image how similar each patch is. `image` is 0 or 1. */
  choose(image, at) {
    const other = 1 - image;
    this.sides[image].at = at;
    const ranks = Array.from({ length: this.count(other) }, (_, patch) => (image === 0 ? this.rank(at, patch) : this.rank(patch, at)));
    const best = ranks.indexOf(Math.max(...ranks));
    this.paint(image, Array.from({ length: this.count(image) }, (_, patch) => (patch === at ? 255 : 0)), at);
    this.paint(other, ranks, best);
    const name = (side, cell) => `row ${Math.floor(cell / side.columns) + 1}, column ${(cell % side.columns) + 1}`;
    this.root.dataset.best = String(best);
    this.status.textContent = `${image === 0 ? 'First' : 'Second'} image, ${name(this.sides[image], at)}: most like ${name(this.sides[other], best)} of the other.`;
  }

  /** Without a marked patch: how similar the best match of each patch is, compared with those of the other patches. */
  rest() {
    const every = (count, make) => Array.from({ length: count }, (_, at) => make(at));
    const closest = [
      every(this.count(0), (at) => Math.max(...every(this.count(1), (other) => this.rank(at, other)))),
      every(this.count(1), (at) => Math.max(...every(this.count(0), (other) => this.rank(other, at)))),
    ];
    closest.forEach((values, image) => this.paint(image, ranked(values)));
    this.status.textContent = '';
  }

  /** One cell a patch: the lower its rank, the darker a veil lies over it; `mark` gets a frame by its colour. */
  paint(image, ranks, mark = -1) {
    const { canvas, columns } = this.sides[image];
    const context = canvas.getContext('2d');
    context.clearRect(0, 0, canvas.width, canvas.height);
    ranks.forEach((rank, at) => {
      const share = (rank / 255) ** 3;
      context.fillStyle = at === mark ? 'rgb(230 159 0 / .75)' : `rgb(10 20 30 / ${0.72 * (1 - share)})`;
      context.fillRect(at % columns, Math.floor(at / columns), 1, 1);
    });
  }
}

/** Values as their ranks among themselves, 0..255: the best matches of all patches have similar values. */
function ranked(values) {
  const order = [...values].sort((one, other) => one - other);
  const last = Math.max(1, order.length - 1);
  return values.map((value) => (255 * (order.indexOf(value) + order.lastIndexOf(value))) / 2 / last);
}
