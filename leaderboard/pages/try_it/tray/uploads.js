/** Uploads of image files: which are refused, sending, and messages for failures. */

import { MOST } from './inputs.js';
import { LARGEST_FILE } from '../../../js/server.js';
import { many, size } from '../words.js';

/** Why a file is not sent at all, as a sentence; '' where it is. Pure. */
export function refusal({ name, type, size: bytes }) {
  if (type && !type.startsWith('image/')) return `${name} is not an image (${type}). Drop an image or write a text.`;
  if (bytes === 0) return `${name} is empty.`;
  if (bytes > LARGEST_FILE) return `${name} has ${size(bytes)}; at most ${size(LARGEST_FILE)} can be sent. Make it smaller and drop it again.`;
  return '';
}

/** The visitor's own words as an input. Pure. */
export const written = (text) => ({ kind: 'text', text: text.trim(), example: null });

export class Uploads {
  constructor(tray) {
    Object.assign(this, { tray, running: new Map() });
  }

  /** Puts files into the tray, the first instead of the input `over`: plain text as texts, all else as images. */
  async take(files, over = null) {
    const { tray } = this;
    const made = await Promise.all([...files].slice(0, MOST + 1).map(async (file) => {
      if (file.type === 'text/plain') return written(await file.text().catch(() => ''));
      const error = refusal(file);
      const image = { kind: 'image', title: file.name, note: '', error, file, bytes: file.size, again: false };
      return error ? { ...image, state: 'failed' } : { ...image, state: 'sending', preview: URL.createObjectURL(file) };
    }));
    const added = tray.add(made, over);
    added.filter(({ state }) => state === 'sending').forEach((input) => this.#send(input));
    const failed = added.filter(({ state }) => state === 'failed');
    if (failed.length) tray.announce(failed.map(({ error }) => error).join(' '));
    else if (added.length) tray.announce(`${many(added.length, 'input')} added`);
    return added;
  }

  /** Sends a file once more after a failure that was not the file's. */
  again(input) {
    const preview = URL.createObjectURL(input.file);
    this.tray.patch(input.id, { state: 'sending', error: '', preview });
    this.#send({ ...input, preview });
  }

  /** Stops sending an input that was removed. */
  stop(id) {
    this.running.get(id)?.abort();
    this.running.delete(id);
  }

  /** After a return to a page that was left: the server has forgotten every image. */
  lost() {
    const { tray } = this;
    for (const { id, kind } of tray.inputs) {
      if (kind !== 'image') continue;
      this.stop(id);
      tray.patch(id, { state: 'gone', preview: null, file: null, thumbnail: null, error: 'The image was removed when you left the page. Drop it again.' });
    }
  }

  async #send({ id, file, title, preview }) {
    const { tray, running } = this;
    const request = new AbortController();
    running.set(id, request);
    let change;
    try {
      const { key, width, height, thumbnail, note } = await tray.server.send(file, request.signal);
      change = { state: 'ready', key, width, height, thumbnail, note: note ?? '', file: null };
    } catch (error) {
      const ours = error.status >= 400 && error.status < 500 && ![408, 429].includes(error.status);
      change = { state: 'failed', error: error.message, again: !ours };
    }
    URL.revokeObjectURL(preview);
    if (request.signal.aborted) return;
    running.delete(id);
    tray.patch(id, { ...change, preview: null });
    tray.announce(change.error ? `${title}: ${change.error}` : `${tray.label(id)}: ${title} is uploaded${change.note ? `, ${change.note}` : ''}`);
  }
}
