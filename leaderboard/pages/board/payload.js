/** The server's data for the board: payloads and rankings, each decoded once, and the sources of a cell. */

import { getJson } from '../../js/request.js';

const PATIENCE = 30000; // ms

/** Fills in the parts a payload may omit. */
function complete(payload) {
  const choices = { conditions: [], metrics: [], splits: [], languages: [], ...payload.choices };
  return { presets: [], categories: [], marks: {}, reasons: [], missing: {}, links: {}, ...payload, choices };
}

/** The server's side of one app; `root` is the absolute address of the app, ending in '/'. */
export class Source {
  constructor(root) {
    Object.assign(this, { root, payloads: new Map(), rankings: new Map() });
  }

  url(path) {
    return new URL(path, this.root).href;
  }

  get(path, signal) {
    return getJson(this.url(path), { signal, patience: PATIENCE });
  }

  /** The payload of a suite, or of one `scope` of it (a query string); requested once and cached, and again after a failure. */
  load(suite, scope = '') {
    const path = `data/board/${encodeURIComponent(suite)}${scope && `?${scope}`}`;
    if (!this.payloads.has(path)) {
      const request = this.get(path).then(complete);
      request.catch(() => this.payloads.delete(path));
      this.payloads.set(path, request);
    }
    return this.payloads.get(path);
  }

  /** The ranking of a payload's rows under `query` (parameters of data/rank, of its scope too); the last 50 are cached. */
  async rank(payload, query, signal) {
    const path = `data/rank/${encodeURIComponent(payload.suite.key)}?${query}&version=${encodeURIComponent(payload.version)}`;
    if (!this.rankings.has(path)) {
      const ranking = await this.get(path, signal);
      if (this.rankings.size >= 50) this.rankings.delete(this.rankings.keys().next().value);
      this.rankings.set(path, ranking);
    }
    return this.rankings.get(path);
  }

  /** The sources of one cell; `rule` are the parameters of data/rank, of its scope too. */
  cell(suite, row, column, rule, signal) {
    const query = new URLSearchParams({ row, column });
    return this.get(`data/cell/${encodeURIComponent(suite)}?${query}${rule && `&${rule}`}`, signal);
  }

  /** Loads the other suites one after another while the browser is idle. */
  prefetch(suites) {
    if (navigator.connection?.saveData) return;
    const idle = window.requestIdleCallback ?? ((run) => setTimeout(run, 500));
    const [next, ...later] = suites;
    if (!next) return;
    idle(() => this.load(next).catch(() => null).then(() => this.prefetch(later)));
  }
}
