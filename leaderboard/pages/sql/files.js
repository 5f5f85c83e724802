/** An answer as a file. Cells that a spreadsheet would run as formulas are quoted, as in the files of the server. */

// As in leaderboard/web/responses.py.
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
const NO_FORMULA = /^(-|[-+]?\d+(\.\d+)?([eE][-+]?\d+)?%?)$/;

export const safeCell = (text) => (FORMULA.test(text) && !NO_FORMULA.test(text) ? `'${text}` : text);

function field(value) {
  if (value === null) return '';
  const text = typeof value === 'string' ? safeCell(value) : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The answer as CSV, with its headings. */
export function csv({ columns, rows }) {
  const heads = columns.map(({ name }) => name);
  return [heads, ...rows].map((row) => row.map(field).join(',')).join('\n').concat('\n');
}

/** The answer as JSON: one list per row, since two columns may share a name. */
export const json = ({ columns, rows }) => JSON.stringify({ columns, rows });
