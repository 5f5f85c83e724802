/** A picture from the camera, which is off until its button is pressed and off again afterwards. */

import { el } from '../../../js/dom.js';
import { press } from '../parts.js';

const REASONS = {
  NotAllowedError: 'The browser did not allow the camera. Allow it in the address bar, or choose a file.',
  NotFoundError: 'There is no camera. Choose a file instead.',
  NotReadableError: 'The camera is in use by another program. Close it there, or choose a file.',
};

export const hasCamera = () => Boolean(navigator.mediaDevices?.getUserMedia);

/** `taken(file)` gets the picture, `turned(running)` says when the preview comes and goes, `failed(words)` why not. */
export function createCamera({ taken, turned, failed }) {
  const video = el('video', { playsinline: true, autoplay: true, 'aria-label': 'Camera preview' });
  video.muted = true;
  const take = press('Take picture', shoot, { class: 'tr-button tr-primary' });
  const preview = el('div', { class: 'tr-camera', hidden: true }, video, el('div', { class: 'tr-buttons' }, take, press('Cancel', close)));
  const words = el('p', { class: 'tr-error', hidden: true });
  const node = el('div', {}, preview, words);
  let stream = null;
  let turn = 0;

  function fail(error) {
    words.textContent = REASONS[error.name] ?? 'The camera could not be used. Choose a file instead.';
    words.hidden = false;
    failed(words.textContent);
  }

  async function open() {
    const mine = ++turn;
    words.hidden = true;
    let opened;
    try {
      opened = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment', width: { ideal: 1280 } } });
    } catch (error) {
      if (mine === turn) fail(error);
      return;
    }
    if (mine !== turn) {
      opened.getTracks().forEach((track) => track.stop());
      return;
    }
    stream = opened;
    video.srcObject = opened;
    preview.hidden = false;
    turned(true);
    await video.play().catch(() => null);
    take.focus();
  }

  function close() {
    turn += 1;
    stream?.getTracks().forEach((track) => track.stop());
    if (!stream) return;
    stream = null;
    video.srcObject = null;
    preview.hidden = true;
    turned(false);
  }

  function shoot() {
    const { videoWidth: width, videoHeight: height } = video;
    if (!width) return;
    const canvas = el('canvas', { width: String(width), height: String(height) });
    canvas.getContext('2d').drawImage(video, 0, 0);
    close();
    canvas.toBlob((blob) => taken(new File([blob], 'Camera picture', { type: blob.type })), 'image/jpeg', 0.92);
  }

  return { node, open, close };
}
