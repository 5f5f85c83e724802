/** Drag and drop, paste, keyboard shortcuts and leaving the page: what reaches the tray besides its own buttons. */

import { EXAMPLE } from './examples.js';
import { SLOT } from './slots.js';
import { written } from './uploads.js';

const CARRIED = [SLOT, EXAMPLE, 'Files', 'text/plain', 'text/uri-list'];
const writes = (node) => Boolean(node?.closest?.('input:not([type=checkbox], [type=radio], [type=file]), textarea, select, [contenteditable=true]'));

/** Whether a text is nothing but an address: pictures of other pages are often dragged as theirs. */
const isAddress = (text) => /^\s*(https?|file):\S+\s*$/.test(text);

export function listen(tray) {
  const { root } = tray;
  // gr.HTML has no unmount event: listeners outside the tray remove themselves once it is gone.
  const beyond = (target, name, act) => {
    const listener = (event) => (root.isConnected ? act(event) : target.removeEventListener(name, listener));
    target.addEventListener(name, listener);
  };
  root.addEventListener('dragover', (event) => over(root, event));
  root.addEventListener('dragleave', (event) => root.contains(event.relatedTarget) || mark(root, null));
  root.addEventListener('drop', (event) => drop(tray, event));
  beyond(document, 'dragend', () => mark(root, null));
  beyond(document, 'paste', (event) => paste(tray, event));
  beyond(document, 'keydown', (event) => {
    const mine = root.contains(event.target) || event.target === document.body;
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || !mine) return;
    event.preventDefault();
    tray.compare({ pressed: event.isTrusted });
  });
  beyond(window, 'pagehide', () => tray.server.leave());
  beyond(window, 'pageshow', (event) => event.persisted && tray.uploads.lost());
}

/** Shows where a drop would go: `slot` or, with `root` itself, the tray. */
function mark(root, slot) {
  root.classList.toggle('tr-over', slot === root);
  root.querySelectorAll('.tr-slot.tr-over').forEach((one) => one.classList.toggle('tr-over', one === slot));
  if (slot && slot !== root) slot.classList.add('tr-over');
}

function over(root, event) {
  const { types } = event.dataTransfer;
  const words = !types.includes(SLOT) && !types.includes(EXAMPLE) && !types.includes('Files');
  if (!CARRIED.some((type) => types.includes(type)) || (words && writes(event.target))) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = types.includes(SLOT) ? 'move' : 'copy';
  mark(root, event.target.closest('.tr-slot') ?? root);
}

function drop(tray, event) {
  const { dataTransfer: data, target } = event;
  const id = data.getData(SLOT);
  const example = data.getData(EXAMPLE);
  const text = data.getData('text/plain');
  mark(tray.root, null);
  if (!id && !example && !data.files.length && (!text || writes(target))) return;
  event.preventDefault();
  const slot = target.closest('.tr-slot')?.dataset.id ?? null;
  if (id) {
    const index = tray.inputs.findIndex((input) => input.id === slot);
    tray.move(id, index < 0 ? tray.inputs.length : index);
  } else if (tray.examples.has(example)) tray.addExample(example, slot);
  else if (data.files.length) tray.uploads.take(data.files, slot);
  else if (text) words(tray, text, slot);
}

function paste(tray, event) {
  const { files } = event.clipboardData;
  const text = event.clipboardData.getData('text/plain');
  // Text pasted into a field stays in the field; an image always goes to a slot.
  if (writes(event.target) && (text || !files.length)) return;
  if (!files.length && !text.trim()) return;
  event.preventDefault();
  if (files.length) tray.uploads.take(files);
  else words(tray, text);
}

function words(tray, text, over = null) {
  if (isAddress(text)) {
    tray.notice.say('That is an address, not an image: save the image and drop the file, or copy the image itself.');
    return;
  }
  const [added] = tray.add([written(text)], over);
  if (added) tray.announce(`${tray.label(added.id)}: text added`);
}
