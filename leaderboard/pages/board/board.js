/** The board: one table of models and scores. `mount` is all that the page calls. */

import { withValues } from '../../js/address.js';
import { createCard } from './card.js';
import { createDialog } from './cell.js';
import { shadeStyles } from './colour.js';
import { gridColumns, roomOf, shownKeys } from './columns.js';
import { createScope, partOf, SCOPE, scopeOf, scopeOfPayload } from './scope.js';
import { createNotice, debounce, el, gridStyles, stylesheet, writeQuery } from '../../js/dom.js';
import { createCopyLink, createExport } from './export.js';
import { createChips, createFilters, createSearch, withoutFilters } from './filters.js';
import { Grid } from '../../js/grid.js';
import { createChanged, createEmpty, createDoubtful, createEstimates, createFailure, createLegend, createOrigins, createSuites, createUnknown } from './parts.js';
import { Source } from './payload.js';
import { createPicker } from './picker.js';
import { FACETS, filterRows, originsOf, shownRows } from './rows.js';
import { createSelection } from './selection.js';
import { SIZE_KEYS } from './sizes.js';
import { ignoredInWords, LEAD, MOST_PINNED, MOST_SELECTED, parse, rankQuery, suiteOf, suiteRule, tableQuery, usualColumns, write } from './state.js';
import { forgetWidths } from './titles.js';
import { createWeights } from './weights.js';

const NARROW = 560;
const ROW = 36;
const URL_WAIT = 150;
const RANK_WAIT = 20;
const RANKING = ['weights', 'coverage', 'tasks', 'estimates', 'doubtful'];
const CARRIED = ['q', 'language', 'estimates', 'doubtful', ...FACETS.map(({ key }) => key), ...SIZE_KEYS, 'models', 'pin', 'select'];

/** Mounts the board into `root` (`data-suite` names the suite shown without a query string). The app's address is `appRoot`, or what this file's own address says. Mounting twice does nothing. */
export function mount(root, { root: appRoot = new URL('../../../', import.meta.url).href } = {}) {
  if (root.dataset.mounted) return null;
  root.dataset.mounted = 'true';
  const board = new Board(root, new Source(appRoot));
  board.start();
  return board;
}

class Board {
  constructor(root, source) {
    Object.assign(this, { root, source, home: root.dataset.suite, payload: null, rows: [], turn: 0 });
    this.grid = new Grid({
      label: 'Models and scores', rowHeight: ROW,
      onSort: (key) => this.sortBy(key), onOpen: (row, column) => this.opened(row, column), onLayout: (width) => this.resized(width),
    });
    this.writeLater = debounce(() => this.writeUrl(), URL_WAIT);
    this.rankLater = debounce(() => this.rerank(), RANK_WAIT);
    [this.dialog, this.card] = [createDialog(this), createCard(this)];
    this.weights = createWeights(this);
    this.notice = createNotice({ notice: 'lk-notice', close: 'lk-close', action: 'lk-button' });
    this.suites = createSuites(this);
    this.status = el('span', { class: 'lk-status', role: 'status' });
    const [search, filters, picker, exports, link] = [createSearch, createFilters, createPicker, createExport, createCopyLink].map((make) => make(this));
    const [changed, unknown, chips, empty, legend, selection] = [createChanged, createUnknown, createChips, createEmpty, createLegend, createSelection].map((make) => make(this));
    const [origins, scope, estimates, doubtful] = [createOrigins, createScope, createEstimates, createDoubtful].map((make) => make(this));
    this.failure = createFailure();
    this.menus = [filters, picker, exports];
    this.parts = [this.suites, search, filters, picker, this.weights, exports, link, origins, scope, estimates, doubtful, changed, unknown, chips, empty, legend, selection];
    this.main = el('div', { class: 'lk-main' },
      el('div', { class: 'lk-bar', role: 'group', 'aria-label': 'Table controls' }, ...search.nodes, ...filters.nodes, ...picker.nodes, ...this.weights.nodes,
        ...scope.nodes, ...estimates.nodes, ...doubtful.nodes, this.status, ...origins.nodes, ...exports.nodes, ...link.nodes),
      this.weights.panel, ...changed.nodes, ...unknown.nodes, ...chips.nodes, this.grid.node, ...empty.nodes, ...legend.nodes, ...selection.nodes);
    this.nodes = [this.suites.node, this.notice.node, this.failure.node, this.main, this.dialog.node, this.card.node];
  }

  async start() {
    const suite = suiteOf(location.search) || this.home;
    this.source.load(suite, scopeOf(location.search)).catch(() => null);
    const onPop = () => {
      if (this.root.isConnected) this.open(suiteOf(location.search) || this.home, location.search);
      else removeEventListener('popstate', onPop);
    };
    addEventListener('popstate', onPop);
    await Promise.all([gridStyles(), stylesheet(new URL('./board.css', import.meta.url)), shadeStyles()]);
    this.main.hidden = this.suites.node.hidden = true; // what is shown before its styles and contents moves what follows
    this.sent = [...this.root.childNodes]; // the first rows, which the page came with
    if (!this.sent.length) this.failure.loading();
    this.root.append(...this.nodes);
    await this.open(suite, location.search);
    document.fonts?.ready.then(() => {
      forgetWidths();
      if (!this.payload) return;
      const sorted = this.grid.inView(this.state.sort.key);
      this.refresh(true);
      if (sorted) this.grid.showColumn(this.state.sort.key);
    });
    if (this.payload) this.source.prefetch(this.payload.suites.map(({ key }) => key).filter((key) => key !== this.payload.suite.key));
  }

  /** Shows a suite in the state a query string gives; `quiet` does not list what was ignored. */
  async open(suite, search, { quiet = false, instead = [], scope = scopeOf(search) } = {}) {
    const turn = ++this.turn;
    this.request?.abort();
    this.root.dataset.ready = 'false';
    this.root.removeAttribute('aria-busy');
    let payload;
    try {
      payload = await this.source.load(suite, scope);
    } catch (error) {
      if (turn !== this.turn) return;
      const unknown = error.status >= 400 && error.status < 500;
      if (unknown && scope) await this.open(suite, search, { quiet, instead: [...instead, ...new URLSearchParams(scope)], scope: '' });
      else if (unknown && suite !== this.home) await this.open(this.home, search, { quiet, instead: [['suite', suite], ...instead], scope: '' });
      else this.fail(error, () => this.open(suite, search, { quiet, instead, scope }));
      return;
    }
    if (turn !== this.turn) return;
    const { state, ignored } = parse(search, payload);
    ignored.unshift(...instead.map((entry) => entry.join('=')));
    const query = tableQuery(state, payload);
    let ranking = payload.ranking;
    let problem = null;
    if (rankQuery(state, payload)) {
      try {
        ranking = await this.source.rank(payload, query);
      } catch (error) {
        problem = error;
      }
      if (turn !== this.turn) return;
    }
    this.show(payload, state, ranking);
    this.failed = problem !== null;
    if (problem) this.say(`The weights of the address could not be applied. ${problem.message}`, () => this.rerank());
    else if (ignored.length && !quiet) this.say(ignoredInWords(ignored, payload));
    else this.say('');
  }

  show(payload, state, ranking) {
    const first = this.payload !== payload;
    Object.assign(this, { payload, state, ranking });
    this.failure.clear();
    for (const node of this.sent.splice(0)) node.remove();
    this.main.hidden = this.suites.node.hidden = false;
    this.narrow = this.root.clientWidth < NARROW;
    this.font = `600 12px ${getComputedStyle(this.root).fontFamily}`;
    if (first) this.grid.node.scrollTo(0, 0);
    this.grid.node.setAttribute('aria-label', `${payload.suite.title}: models and scores`);
    this.refresh(true);
    this.grid.showColumn(state.sort.key);
    if (first && state.select.length) this.grid.showRow(this.rows.findIndex((row) => payload.rows[row].id === state.select[0]));
    this.root.dataset.suite = payload.suite.key;
    this.root.dataset.ready = 'true';
  }

  /** Takes over a change of state, draws it at once, and ranks again where it changes the ranks. */
  change(patch) {
    Object.assign(this.state, patch);
    if (RANKING.some((key) => key in patch)) this.rankLater();
    this.refresh('origin' in patch);
    this.writeLater();
  }

  refresh(columns) {
    const { payload, state, ranking } = this;
    const passing = filterRows(payload, state);
    this.rows = shownRows(payload, ranking, state, passing);
    // A search finds models, filters choose among them: colours run over what the filters leave.
    this.scaleRows = state.q.trim() || state.pin.length ? shownRows(payload, ranking, state, filterRows(payload, { ...state, q: '' })) : passing;
    const change = { rows: this.rows, sort: state.sort, stuck: this.rows.filter((row) => state.pin.includes(payload.rows[row].id)).length };
    const keys = shownKeys(this).join();
    if (columns || keys !== this.shownKeys) change.columns = gridColumns(this);
    this.shownKeys = keys;
    this.grid.update(change);
    this.parts.forEach((part) => part.refresh());
    const [now, all] = [this.rows.length, payload.rows.length];
    this.status.textContent = now === all ? `${all} rows` : `${now} of ${all} rows`;
    if (state.origin.length !== 1 && originsOf(payload).length > 1) this.status.textContent += ', ranked within each origin';
    this.root.dataset.rows = String(now);
  }

  async rerank() {
    const { payload, state } = this;
    const query = tableQuery(state, payload);
    const turn = this.turn;
    this.request?.abort();
    this.request = new AbortController();
    const { signal } = this.request;
    this.root.setAttribute('aria-busy', 'true');
    try {
      const ranking = rankQuery(state, payload) ? await this.source.rank(payload, query, signal) : payload.ranking;
      if (signal.aborted || turn !== this.turn) return;
      this.ranking = ranking;
      this.refresh(true);
      if (this.failed) this.say('');
      this.failed = false;
    } catch (error) {
      if (signal.aborted || turn !== this.turn) return;
      this.failed = true;
      this.say(`The ranks could not be updated. ${error.message}`, () => this.rerank());
    }
    this.root.removeAttribute('aria-busy');
  }

  sortBy(key) {
    const { sort } = this.state;
    if (sort.key === key) this.change({ sort: { key, down: !sort.down } });
    else this.change({ sort: { key, down: this.bestIsHigh(key) } });
  }

  /** Whether a first click on a header sorts downwards: the best comes first, words and ranks ascend. */
  bestIsHigh(key) {
    if (key === 'mean') return this.payload.suite.mean_higher ?? true;
    if (LEAD.includes(key)) return ['coverage', 'date', 'late'].includes(key);
    return this.payload.columns.find((column) => column.key === key).higher;
  }

  opened(row, { key }) {
    if (key === 'select') this.select(this.payload.rows[row].id);
    else this.dialog.open(row, key);
  }

  /** Adds a row to the selection or takes it out. */
  select(id) {
    const { select } = this.state;
    if (select.includes(id)) this.change({ select: select.filter((one) => one !== id) });
    else if (select.length >= MOST_SELECTED) this.say(`At most ${MOST_SELECTED} rows can be compared.`);
    else this.change({ select: [...select, id] });
  }

  /** Pins rows on top, whatever is filtered or sorted; unpins them where all are pinned already. */
  pin(ids) {
    const { pin } = this.state;
    const all = ids.every((id) => pin.includes(id)) ? pin.filter((id) => !ids.includes(id)) : [...new Set([...pin, ...ids])];
    if (all.length > MOST_PINNED) this.say(`At most ${MOST_PINNED} rows can be pinned.`);
    else this.change({ pin: all });
  }

  /** Goes to another suite; search, filters and selection carry over where the other suite has them. */
  async go(suite) {
    if (suite === this.payload?.suite.key) return;
    if (this.payload && this.writeLater.waiting()) this.writeLater.now();
    const carried = new URLSearchParams(this.payload ? this.query() : location.search);
    for (const key of [...carried.keys()]) {
      if (!CARRIED.includes(key)) carried.delete(key);
    }
    const groupOf = (key) => this.payload?.suites.find((one) => one.key === key)?.group;
    if (groupOf(suite) !== groupOf(this.payload?.suite.key)) carried.delete('language');
    await this.open(suite, `?${carried}`, { quiet: true });
    if (this.payload?.suite.key !== suite) return;
    this.writeUrl(true);
  }

  /** Shows another condition, metric or language of the suite; the rest of the view stays. */
  async setScope(patch) {
    const { payload } = this;
    if (this.writeLater.waiting()) this.writeLater.now();
    const query = withValues(this.query(), Object.fromEntries(SCOPE.map((key) => [key, patch[key] ?? payload.suite[key]])));
    if (scopeOf(`?${query}`) === scopeOfPayload(payload)) return;
    await this.open(payload.suite.key, `?${query}`, { quiet: true });
    this.writeUrl(true);
  }

  /** Counts the tasks of one data set or split alone, or all, and shows their columns. */
  choosePart(tasks) {
    const { payload } = this;
    this.change({ tasks, ...usualColumns(payload, tasks) });
  }

  /** Back to the suite's own mean; of a part, with the suite's own columns. */
  resetRule() {
    if (partOf(this.payload, this.state.tasks)) this.choosePart([]);
    this.change(suiteRule(this.payload));
  }

  reset() {
    this.change(withoutFilters(this.payload));
  }

  query() {
    return write(this.state, this.payload, location.search, this.home);
  }

  writeUrl(push = false) {
    if (this.root.isConnected && this.payload) writeQuery(this.query(), { push });
  }

  link() {
    this.writeLater.now();
    return location.href;
  }

  say(text, retry = null) {
    this.notice.say(text, retry);
  }

  fail(error, retry) {
    this.main.hidden = true;
    this.menus.forEach((menu) => menu.close());
    this.root.dataset.ready = 'error';
    this.failure.fail(error.message, () => {
      this.failure.loading();
      retry();
    });
  }

  resized(width) {
    const narrow = width < NARROW;
    const { tight, roomy } = roomOf(this);
    if (!this.payload || (narrow === this.narrow && tight === this.tight && roomy === this.roomy)) return;
    this.narrow = narrow;
    this.grid.update({ columns: gridColumns(this) });
  }
}
