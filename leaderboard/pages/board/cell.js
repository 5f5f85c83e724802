/** The dialog of a cell: where its number comes from, as printed, or why there is none. */

import { cellAt, FACTS, kindTitle, originTitle, trainedTitle } from './rows.js';
import { coverageWords, ESTIMATED, estimatedSign, marksAt, MARKS, meanDigits, meanInterval, rankText, reasonAt, shown } from './columns.js';
import { filledPattern } from '../../js/address.js';
import { button, el } from '../../js/dom.js';
import { rounded } from '../../js/number.js';
import { runDetails } from '../../js/run_details.js';
import { tableQuery } from './state.js';

const OF_RANK = new Set(['rank', 'range', 'class', 'mean', 'coverage', 'interval']);

/** Facts of [label, text]; those without a text are left out. */
export const facts = (lines) => el('dl', { class: 'lk-facts' }, ...lines.filter(([, text]) => text !== '' && text !== null && text !== undefined)
  .flatMap(([label, text]) => [el('dt', {}, label), el('dd', {}, String(text))]));

/** What a chooser asks of a model, as lines of facts. */
export const modelLines = (model) => [
  ['Organisation', model.organisation], ['Kind', kindTitle(model.kind)],
  ...FACTS.map(({ key, title: label, of, text, words }) => [label, of(model) !== null ? (words?.(model) ?? text(of(model))) : key === 'parameters' ? 'not stated' : '']),
  ['Input', model.modalities.join(', ')], ['Licence', model.license || 'not stated'],
  ['Trained on these data sets', trainedTitle(model.trained)],
];

function source(one) {
  // A computed run's source is its folder, which its details name.
  const rows = [
    ['As printed', one.printed], ['Value', String(one.value ?? '') === String(one.printed ?? '') ? '' : one.value], ['Metric', one.metric],
    ['Subset', one.subset === 'default' ? '' : one.subset], ['Items', typeof one.n === 'number' ? one.n.toLocaleString('en') : one.n],
    ['95% interval', Array.isArray(one.interval) ? one.interval.join(' to ') : one.interval], ['Coverage', one.coverage], ['Note', one.note],
  ];
  const name = one.run ? '' : one.url ? el('a', { href: one.url }, one.source) : one.source;
  const node = el('section', { class: 'lk-source' }, el('h4', {}, name, name && ' · ', originTitle(one.origin ?? '')), facts(rows));
  if (one.run) node.append(runDetails(one.run));
  if (one.cite) node.append(el('details', {}, el('summary', {}, 'How to cite'), el('pre', {}, one.cite)));
  return node;
}

/** A rank without the word that labels it. */
const words = (ranking, row) => rankText(ranking, row).replace(/^Rank /, '');

/** One dialog for the board: `open(row, columnKey)`. */
export function createDialog(board) {
  const title = el('h3', {});
  const content = el('div', { class: 'lk-content' });
  const node = el('dialog', { class: 'lk-dialog', 'aria-label': 'Sources' },
    el('header', {}, title, button('×', () => node.close(), { class: 'lk-close', 'aria-label': 'Close' })), content);
  let request = null;
  node.addEventListener('close', () => request?.abort());
  // The second click of a double-click on a cell falls on what the first has opened: it closes nothing and follows no link.
  let justOpened = false;
  node.addEventListener('click', (event) => {
    justOpened &&= event.detail > 1;
    if (justOpened) {
      event.preventDefault();
      event.stopPropagation();
    } else if (event.target === node) node.close();
  }, true);

  function show(heading, ...children) {
    title.textContent = heading;
    content.replaceChildren(...children);
    if (node.open) return;
    justOpened = true;
    node.showModal();
  }

  function modelFacts(row) {
    const { payload, ranking } = board;
    const model = payload.rows[row];
    return [facts([
      ...modelLines(model), ['Family', model.family], ['Group in the paper', model.group], ['Scores', originTitle(model.origin)],
      ['Takes instructions', model.instructions === null ? '' : model.instructions ? 'yes' : 'no'], ['Key', model.model],
    ]), rankFacts(row, ranking), el('p', {}, button(board.state.pin.includes(model.id) ? 'Unpin' : 'Pin on top', () => {
      board.pin([model.id]);
      node.close();
    })), links(payload.links?.model, { model: model.model }, 'The page of this model'),
      links(payload.links?.judge, { model: model.model }, 'This judge in detail')];
  }

  function rankFacts(row, ranking) {
    const { payload } = board;
    const digits = meanDigits(payload);
    const mean = ranking.mean[row];
    const interval = meanInterval(ranking, row, digits);
    const lines = [
      ['Rank', words(ranking, row)],
      [ranking.changed ? `Your mean: ${ranking.changed}` : payload.suite.mean_title, mean === null ? 'none' : `${estimatedSign(ranking, row)}${rounded(mean, digits)}${interval ? ` (${interval})` : ''}`],
      ['Coverage', coverageWords(ranking, row)], ['By the suite’s own mean', ranking.changed ? words(payload.ranking, row) : ''],
    ];
    return facts(lines);
  }

  /** A link to another page of the app; `pattern` holds {name} where a value goes. */
  function links(pattern, values, text) {
    if (!pattern) return '';
    return el('p', {}, el('a', { href: board.source.url(filledPattern(pattern, values)) }, text));
  }

  async function load(row, column) {
    const { payload, source: server } = board;
    const { id, title: model } = payload.rows[row];
    const heading = `${model}: ${column.title}`;
    request?.abort();
    request = new AbortController();
    const { signal } = request;
    show(heading, el('p', { class: 'lk-quiet' }, 'Loading…'));
    try {
      const data = await server.cell(payload.suite.key, id, column.key, tableQuery(board.state, payload), signal);
      if (!signal.aborted) fill(row, column, data, heading);
    } catch (error) {
      if (signal.aborted) return;
      show(heading, el('p', {}, `The sources did not load. ${error.message}`), button('Retry', () => load(row, column)));
    }
  }

  function fill(row, column, data, heading) {
    const { payload, ranking } = board;
    const at = payload.columns.indexOf(column);
    const bits = marksAt(payload, ranking, row, at);
    const marks = MARKS.filter(([bit]) => bits & bit).map(([, mark, words]) => el('li', {}, `${mark} ${words}`));
    const notes = (data.notes ?? []).map((note) => el('li', {}, String(note)));
    const empty = cellAt(payload, ranking, row, at) === null && !data.sources?.length;
    const line = ({ label, text }) => {
      const task = payload.columns.find((one) => one.group === column.key && one.title === label); // of a category: it has the sources
      return [task ? button(label, () => load(row, task), { class: 'lk-link' }) : label, text];
    };
    show(data.title || heading, facts([['Estimated', bits & ESTIMATED ? shown(cellAt(payload, ranking, row, at), column.digits) : ''], ...(data.lines ?? []).map(line)]),
      empty ? el('p', {}, `No value: ${reasonAt(payload, ranking, row, at)}`) : '',
      marks.length || notes.length ? el('ul', { class: 'lk-notes' }, ...marks, ...notes) : '',
      ...(data.sources ?? []).map(source), links(data.items ? payload.links?.items : '', data, 'Its single items'),
      links(data.task ? payload.links?.task : '', data, 'The page of this task'));
  }

  return {
    node,
    open(row, key) {
      const model = board.payload.rows[row];
      const column = board.payload.columns.find((one) => one.key === key);
      if (column) load(row, column);
      else if (OF_RANK.has(key)) show(model.title, rankFacts(row, board.ranking));
      else show(model.title, ...modelFacts(row));
    },
  };
}
