/** The empty slot: choose a file, write, or take a picture. */

import { el } from '../../js/dom.js';
import { createCamera, hasCamera } from './camera.js';
import { press } from './parts.js';
import { written } from './uploads.js';

/** `wrote(id)` is called after a new text stands in the tray. */
export function createEmpty(tray, { wrote }) {
  const files = el('input', { type: 'file', accept: 'image/*,text/plain', multiple: true, class: 'tr-unseen', tabindex: '-1', 'aria-label': 'Image files', onchange: () => {
    tray.uploads.take(files.files);
    files.value = '';
  } });
  const choose = press('Choose image', () => files.click());
  const write = press('Write text', () => wrote(tray.add([written('')])[0]?.id));
  const shoot = press('Camera', () => camera.open(), { hidden: !hasCamera() });
  const hint = el('p', { class: 'tr-hint' }, 'Drop, paste or choose an image, or write a text');
  const first = el('div', { class: 'tr-ways' }, hint, el('div', { class: 'tr-buttons' }, choose, write, shoot, files));
  const camera = createCamera({
    taken: (file) => tray.uploads.take([file]),
    turned: (running) => {
      first.hidden = running;
      if (!running && node.isConnected) shoot.focus();
    },
    failed: (words) => tray.announce(words),
  });
  const node = el('li', { class: 'tr-slot tr-empty', 'aria-label': 'Empty slot' }, first, camera.node);
  addEventListener('pagehide', () => camera.close());

  return {
    node,
    focus: () => choose.focus(),
    refresh() {
      if (!node.isConnected) camera.close();
    },
  };
}
