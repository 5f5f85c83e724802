/** Tells the rest of the page whether the answers there are of what stands in the tray, or of what stood there before. */

import { sent } from './inputs.js';

export function createAsking(tray) {
  let asked = null; // what was asked last, as text; null before the first time
  const now = () => JSON.stringify([tray.inputs.map(sent), tray.mode, tray.question]);

  function tell() {
    const detail = { changed: asked !== null && asked !== now(), empty: tray.inputs.length === 0 };
    dispatchEvent(new CustomEvent('likeness-tray', { detail }));
  }

  function done() {
    asked = now();
    tell();
  }

  return { tell, done };
}
