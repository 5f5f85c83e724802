/** What the tray asks the server, and what it says when that fails. */

export const LARGEST_FILE = 8_000_000; // bytes; the server refuses more

const DEAD = 'The server does not answer. Check the connection and try again.';

/** A random name of this visit; `randomUUID` is missing where a page is served without https. */
function identity() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** One visit's connection. Uploads live on the server, in memory, under `session`, which is kept nowhere else. */
export class Server {
  constructor(root) {
    Object.assign(this, { root, session: identity(), holds: false });
  }

  url(path) {
    return new URL(path, this.root).href;
  }

  /** The JSON below `live/`. Throws an Error that is a sentence, with `status` where there was an answer. */
  get(path, signal) {
    return this.#ask(path, { signal });
  }

  /** Sends one image file (a Blob) and hands back {key, width, height, thumbnail, note}; `to` takes others. Throws as `get`. */
  async send(file, signal, to = 'live/input') {
    let body;
    try {
      body = await file.arrayBuffer();
    } catch {
      throw Object.assign(new Error('The file could not be read. Is it a folder?'), { status: 0 });
    }
    this.holds = true;
    return this.#ask(to, { method: 'POST', body, signal, headers: this.#headers() });
  }

  /** Asks the server to forget the uploads; what fails is forgotten by the server itself in time. */
  forget() {
    if (!this.holds) return;
    this.holds = false;
    fetch(this.url('live/forget'), { method: 'POST', body: this.session, headers: this.#headers() }).catch(() => null);
  }

  /** The same when the page is left, where only a beacon still gets out. */
  leave() {
    if (this.holds) navigator.sendBeacon(this.url('live/forget'), this.session);
    this.holds = false;
  }

  #headers() {
    return { 'x-likeness-session': this.session };
  }

  async #ask(path, options) {
    let response;
    try {
      response = await fetch(this.url(path), options);
    } catch (error) {
      throw error.name === 'AbortError' ? error : new Error(DEAD);
    }
    if (response.ok) {
      const answer = await response.json().catch(() => null);
      if (answer) return answer;
      throw new Error(DEAD);
    }
    const { error } = await response.json().catch(() => ({}));
    throw Object.assign(new Error(error ?? `The server answered ${response.status}. Try again.`), { status: response.status });
  }
}
