/** The claims page: its answer, counts that filter, a search, a table drawn only where visible, and the chosen claim in full. */

import { button, debounce, el, writeQuery } from '../../js/dom.js';
import { folded, parse, select, write } from '../../js/facets.js';
import { Grid } from '../../js/grid.js';
import { load } from '../../js/loading.js';
import { createNoResults } from '../../js/no_results.js';
import { show as showNode } from '../../js/reveal.js';
import { card, claimUrl, SEVERITIES, SEVERITY_NAMES, VERDICT_NAMES, VERDICTS } from './card.js';

// With soft hyphens, for the narrow heads of the counts.
const HEADS = {
  conflict: 'Con\u00adflict', 'tables differ': 'Tables differ', 'not significant': 'Not signi\u00adficant',
  rounding: 'Round\u00ading', 'cannot be recomputed': 'Cannot be recom\u00adputed', reproduces: 'Repro\u00adduces',
};
const ORDERS = { verdict: VERDICTS, severity: SEVERITIES };
export const COLUMNS = [
  ['verdict', 'Verdict', 84, 160], ['severity', 'Severity', 76, 90], ['paper', 'Paper', 88, 110], ['claim', 'Claim', 270, 460],
  ['where', 'Where', 118, 190], ['printed', 'Printed', 92, 150], ['recomputed', 'Recomputed', 104, 170],
  ['formula', 'Computed as', 170, 330], ['note', 'Note', 190, 420],
].map(([key, title, width, most]) => ({ key, title, width, most, value: (claim) => ORDERS[key]?.indexOf(claim[key]) ?? claim[key] }));

/** What an address may choose among claims; a claim that it names is shown, and none is left out for it. */
export function facetsOf(claims) {
  const is = (key, options) => ({ key, options: options.map((option) => [option]), test: (claim, value) => claim[key] === value });
  const papers = [...new Set(claims.map(({ paper }) => paper))];
  return [{ ...is('claim', claims.map(({ key }) => key)), test: () => true }, is('paper', papers), is('verdict', VERDICTS), is('severity', SEVERITIES)];
}

/** The answer: the server's counts of claims, and which of the failing ones are of what severity. */
export function answer(claims, { recomputed, conflicts }) {
  const failing = claims.filter(({ verdict }) => verdict === 'conflict');
  const count = (severity, rows) => rows.filter((claim) => claim.severity === severity).length;
  return {
    recomputed, conflicts, headlines: count('headline', claims),
    failingHeadlines: failing.filter(({ severity }) => severity === 'headline'),
    failingResults: count('table', failing), failingDetails: count('detail', failing),
  };
}

/** Mounts the page into `root`; `source` is the address of the claims. */
export function mount(root, source) {
  root.classList.add('likeness-board', 'lk-claims');
  load(root, { source, what: 'claims', styles: new URL('./claims.css', import.meta.url) }, (data) => show(root, data));
}

function show(root, { counts: numbers, fields, rows, tables }) {
  const claims = rows.map((row) => {
    return { ...Object.fromEntries(fields.map((field, at) => [field, row[at]])), text: folded(row.join(' ')) };
  });
  const facets = facetsOf(claims);
  const { state, ignored } = parse(location.search, { facets, sorts: COLUMNS.map(({ key }) => key) });
  const cardFirst = Boolean(state.claim);
  const notice = el('p', { class: 'lk-notice', hidden: !ignored.length },
    `The address has unknown values for ${ignored.join(', ')}; they are ignored.`);
  const counts = el('div', { class: 'lk-counts', role: 'group', 'aria-label': 'Filter by paper and verdict' });
  const search = el('input', {
    type: 'search', class: 'lk-input lk-search', placeholder: 'Search claims', 'aria-label': 'Search claims', maxlength: 200, value: state.q,
  });
  const status = el('span', { class: 'lk-status', role: 'status' });
  const clear = button('Show all', () => {
    search.value = severity.value = '';
    choose({ paper: '', verdict: '', severity: '', q: '' });
  });
  const severity = el('select', { class: 'lk-input lk-severity', 'aria-label': 'Severity' },
    ...[['', 'All severities'], ...Object.entries(SEVERITY_NAMES)].map(([value, name]) => el('option', { value }, name)));
  severity.value = state.severity;
  const grid = new Grid({ label: 'Claims', rowHeight: 28, onSort, onOpen: (claim) => open(claim) });
  const noResults = createNoResults((claim) => {
    search.value = claim;
    choose({ q: claim });
  }, button('Show all', () => clear.click()));
  const pane = el('section', { class: `lk-detail${cardFirst ? ' lk-first' : ''}`, 'aria-live': 'polite', 'aria-label': 'The chosen claim' });
  const remember = debounce(() => writeQuery(write(state, location.search)), 150);

  function choose(change) {
    Object.assign(state, change);
    draw();
  }

  function filter(change) {
    const off = Object.entries(change).every(([key, value]) => state[key] === value);
    choose(off ? { paper: '', verdict: '' } : change);
  }

  function drawCounts() {
    const line = (paper, name) => {
      const own = claims.filter((claim) => !paper || claim.paper === paper);
      const cell = (verdict, count) => el('button', {
        type: 'button', class: `lk-countcell${verdict === 'conflict' && count ? ' lk-bad' : ''}`, disabled: !count,
        'aria-pressed': String(state.paper === paper && state.verdict === verdict),
        'aria-label': `${name}, ${verdict ? VERDICT_NAMES[verdict].toLowerCase() : 'all'}: ${count} claims`,
        onclick: () => filter({ paper, verdict }),
      }, count.toLocaleString('en'));
      return [el('span', { class: 'lk-countname' }, name),
        ...VERDICTS.map((verdict) => cell(verdict, own.filter((claim) => claim.verdict === verdict).length)), cell('', own.length)];
    };
    const heads = ['', ...VERDICTS.map((verdict) => HEADS[verdict]), 'All'].map((name) => el('span', { class: 'lk-counthead' }, name));
    counts.style.setProperty('--counts', VERDICTS.length + 1);
    counts.replaceChildren(...heads, ...facets[1].options.flatMap(([paper]) => line(paper, paper)), ...line('', 'All papers'));
  }

  function onSort(key) {
    choose({ sort: { key, down: state.sort?.key === key && !state.sort.down } });
  }

  /** Shows a claim that the visitor chose, and gives it the address. */
  function open(claim) {
    state.claim = claim.key;
    pane.replaceChildren(...card(claim, tables));
    showNode(pane);
    remember();
  }

  function opener(claim) {
    return el('a', {
      href: claimUrl(claim.key),
      onclick: (event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return;
        event.preventDefault();
        open(claim);
      },
    }, claim.claim);
  }

  function answered() {
    const { recomputed, conflicts, headlines, failingHeadlines, failingResults, failingDetails } = answer(claims, numbers);
    const number = (count, noun) => `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
    const rest = `${number(failingResults, 'result')} of tables or single models and ${number(failingDetails, 'detail')} fail too.`;
    return el('section', { class: 'lk-answer', 'aria-label': 'The answer' },
      el('p', {}, el('b', {}, `${conflicts.toLocaleString('en')} of ${number(recomputed, 'claim')} that can be recomputed fail`),
        `: the paper’s own tables give another value. ${failingHeadlines.length} of the ${number(headlines, 'headline claim')} fail${failingHeadlines.length ? ':' : '.'}`),
      el('ul', {}, ...failingHeadlines.map((claim) => el('li', {}, el('span', { class: 'lk-quiet' }, `${claim.paper} `), opener(claim)))),
      el('p', { class: 'lk-quiet' }, rest));
  }

  function draw() {
    const rowsNow = select(claims, state, { facets, columns: COLUMNS });
    drawCounts();
    status.textContent = `${rowsNow.length.toLocaleString('en')} of ${claims.length.toLocaleString('en')} claims`;
    clear.disabled = !state.paper && !state.verdict && !state.severity && !state.q;
    noResults.refresh(rowsNow.length, state.q, claims.map(({ claim }) => claim));
    grid.node.hidden = !rowsNow.length;
    grid.node.scrollTop = 0;
    grid.update({
      rows: rowsNow, sort: state.sort,
      columns: COLUMNS.map((column) => ({
        ...column, sort: true,
        draw: (cell, claim) => {
          const names = { verdict: VERDICT_NAMES, severity: SEVERITY_NAMES }[column.key];
          const text = names ? names[claim[column.key]] : claim[column.key] || '—';
          cell.textContent = text;
          cell.title = text;
          if (column.key === 'verdict') cell.classList.add(`lk-verdict-${VERDICTS.indexOf(claim.verdict)}`);
        },
      })),
    });
    const shown = claims.find(({ key }) => key === state.claim) ?? rowsNow[0];
    pane.replaceChildren(...(shown ? card(shown, tables) : []));
    root.dataset.rows = String(rowsNow.length);
    remember();
  }

  search.addEventListener('input', debounce(() => choose({ q: search.value }), 80));
  severity.addEventListener('change', () => choose({ severity: severity.value }));
  const bar = el('div', { class: 'lk-bar' }, search, severity, status, clear);
  // A visitor who follows the link of a claim reads it first.
  const parts = [answered(), counts, bar, grid.node, noResults.node];
  root.replaceChildren(notice, ...(cardFirst ? [pane, ...parts] : [...parts, pane]));
  draw();
  root.dataset.ready = String(claims.length);
}
