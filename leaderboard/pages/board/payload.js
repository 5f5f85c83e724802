/** What the server knows: payloads kept once decoded, rankings, a cell's sources. */

/** A failed request with a line a reader can act on; `status` 0 means that no answer came. */
export class LoadError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

const PATIENCE = 30000;

async function getJson(url, signal) {
  let response;
  try {
    const patience = AbortSignal.timeout(PATIENCE);
    response = await fetch(url, { signal: signal ? AbortSignal.any([signal, patience]) : patience });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new LoadError('The server did not answer.', 0);
  }
  let data = null;
  try {
    data = await response.json();
  } catch (error) {
    if (signal?.aborted) throw error;
  }
  if (!response.ok) throw new LoadError(String(data?.error ?? `The server answered ${response.status}.`), response.status);
  if (data === null) throw new LoadError('The answer could not be read.', response.status);
  return data;
}

/** Fills in the parts a payload may leave out. */
function complete(payload) {
  return { presets: [], categories: [], marks: {}, reasons: [], missing: {}, links: {}, ...payload };
}

/** The server's side of one app; `root` is the absolute address of the app, ending in '/'. */
export class Source {
  constructor(root) {
    this.root = root;
    this.payloads = new Map();
    this.rankings = new Map();
  }

  url(path) {
    return new URL(path, this.root).href;
  }

  /** The payload of a suite; asked for once, kept, and asked for again after a failure. */
  load(suite) {
    if (!this.payloads.has(suite)) {
      const waiting = getJson(this.url(`data/board/${encodeURIComponent(suite)}`)).then(complete);
      waiting.catch(() => this.payloads.delete(suite));
      this.payloads.set(suite, waiting);
    }
    return this.payloads.get(suite);
  }

  /** The ranking of a payload's rows under `query` (parameters of data/rank); the last few are kept. */
  async rank(payload, query, signal) {
    const path = `data/rank/${encodeURIComponent(payload.suite.key)}?${query}&version=${encodeURIComponent(payload.version)}`;
    if (!this.rankings.has(path)) {
      const ranking = await getJson(this.url(path), signal);
      if (this.rankings.size >= 50) this.rankings.delete(this.rankings.keys().next().value);
      this.rankings.set(path, ranking);
    }
    return this.rankings.get(path);
  }

  /** The sources of one cell. */
  cell(suite, row, column, signal) {
    const query = new URLSearchParams({ row, column });
    return getJson(this.url(`data/cell/${encodeURIComponent(suite)}?${query}`), signal);
  }

  /** Loads the other suites while nothing else goes on, one after the other. */
  prefetch(suites) {
    if (navigator.connection?.saveData) return;
    const idle = window.requestIdleCallback ?? ((run) => setTimeout(run, 500));
    const [next, ...later] = suites;
    if (!next) return;
    idle(() => this.load(next).catch(() => null).then(() => this.prefetch(later)));
  }
}
