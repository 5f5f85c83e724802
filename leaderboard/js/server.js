/** A visit's requests to the server: what is sent stays in its memory under a random session. */

import { getJson, RequestError } from './request.js';

export const LARGEST_FILE = 8_000_000; // bytes; the server refuses more

/** A random name of this visit; `randomUUID` is missing where a page is served without https. */
function identity() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** One visit's connection. Uploads stay in the server's memory under `session`, which is stored nowhere else. */
export class Server {
  constructor(root) {
    Object.assign(this, { root, session: identity(), hasUploads: false });
  }

  url(path) {
    return new URL(path, this.root).href;
  }

  /** The JSON at `path`. Throws as `getJson`. */
  get(path, signal) {
    return getJson(this.url(path), { signal });
  }

  /** Sends one image file (a Blob) and returns {key, width, height, thumbnail, note}; `to` takes others. Throws as `get`. */
  async send(file, signal, to = 'live/input') {
    let body;
    try {
      body = await file.arrayBuffer();
    } catch {
      throw new RequestError('The file could not be read. Is it a folder?', 0);
    }
    this.hasUploads = true;
    return getJson(this.url(to), { method: 'POST', body, signal, headers: this.#headers() });
  }

  /** Asks the server to forget the uploads; if that fails, the server forgets them after a while. */
  forget() {
    if (!this.hasUploads) return;
    this.hasUploads = false;
    fetch(this.url('live/forget'), { method: 'POST', body: this.session, headers: this.#headers() }).catch(() => null);
  }

  /** The same when the page is left, where only a beacon still gets out. */
  leave() {
    if (this.hasUploads) navigator.sendBeacon(this.url('live/forget'), this.session);
    this.hasUploads = false;
  }

  #headers() {
    return { 'x-likeness-session': this.session };
  }
}
