/** Exports: files of the view or of everything, a link to the view, the citation. */

import { scoresShown, shownKeys } from './columns.js';
import { button, copyLink, el, save } from '../../js/dom.js';
import { ofState } from '../../js/request.js';
import { filtersInWords } from './filters.js';
import { popover } from './popover.js';
import { tableQuery } from './state.js';

const VIEW = [['csv', 'CSV'], ['parquet', 'Parquet'], ['json', 'JSON'], ['markdown', 'Markdown'], ['latex', 'LaTeX'], ['bibtex', 'BibTeX']];
const EVERYTHING = [['csv', 'CSV'], ['parquet', 'Parquet'], ['json', 'JSON'], ['duckdb', 'DuckDB file']];

/** The file name a response gives, without any folder, or `otherwise`. */
export function fileName(disposition, otherwise) {
  const name = /filename="?([^";]+)"?/.exec(disposition ?? '')?.[1] ?? otherwise;
  return name.split(/[\\/]/).at(-1);
}

async function download(board, format) {
  const { payload, rows, source } = board;
  board.say(`Preparing ${format}…`);
  try {
    const response = await fetch(ofState(source.url(`export/board/${encodeURIComponent(payload.suite.key)}`)), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        format, query: tableQuery(board.state, payload), filters: filtersInWords(board.state, payload),
        rows: rows.map((row) => payload.rows[row].id),
        shown: shownKeys(board).filter((key) => typeof key === 'string'),
        columns: scoresShown(board).map((at) => payload.columns[at].key), // every file has rank, title, mean and coverage anyway
      }),
    });
    if (!response.ok) {
      const answer = await response.json().catch(() => ({}));
      throw new Error(answer.error ?? `The server answered ${response.status}.`);
    }
    save(await response.blob(), fileName(response.headers.get('content-disposition'), `${payload.suite.key}.${format}`));
    board.say('');
  } catch (error) {
    board.say(`The file was not made. ${error.message}`, () => download(board, format));
  }
}

/** The Export button with its panel. */
export function createExport(board) {
  const menu = popover('Export', (panel) => {
    const citable = (format) => format !== 'bibtex' || board.payload.suite.cite;
    const view = VIEW.filter(([format]) => citable(format)).map(([format, title]) => button(title, () => {
      menu.close();
      download(board, format);
    }));
    const all = EVERYTHING.map(([format, title]) => el('a', {
      class: 'lk-button', href: board.source.url(`export/everything?format=${format}`), download: true }, title));
    panel.append(el('h4', {}, `This view: ${board.rows.length} ${board.rows.length === 1 ? 'row' : 'rows'}`), el('div', { class: 'lk-foot' }, ...view),
      el('h4', {}, 'Everything: all benchmarks and sources'), el('div', { class: 'lk-foot' }, ...all));
  }, { name: 'Export', panelClass: 'lk-export' });
  return { nodes: [menu.opener, menu.panel], close: menu.close, refresh() {} };
}

/** The Copy link button; where the clipboard is barred the link is shown to be copied by hand. */
export function createCopyLink(board) {
  const node = button('Copy link', () => copyLink(node, board.link(), (href) => board.say(`Link to this view: ${href}`)));
  return { nodes: [node], refresh() {} };
}
