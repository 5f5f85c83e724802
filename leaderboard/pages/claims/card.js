/** One claim in full: printed and recomputed, how, from which tables, why it matters, and a report of a mistake. */

import { encodedKey } from '../../js/address.js';
import { button, copyLink, copyText, el } from '../../js/dom.js';

export const VERDICTS = ['conflict', 'tables differ', 'not significant', 'rounding', 'cannot be recomputed', 'reproduces'];
export const SEVERITIES = ['headline', 'table', 'detail'];
const named = (keys) => Object.fromEntries(keys.map((key) => [key, key[0].toUpperCase() + key.slice(1)]));
export const VERDICT_NAMES = named(VERDICTS);
export const SEVERITY_NAMES = named(SEVERITIES);
const WHY = {
  headline: 'The paper leads with it.',
  table: 'A result of the paper: readers compare models or metrics by it.',
  detail: 'No ranking depends on it.',
};

/** The address of a claim, relative to the app's root. */
export const claimUrl = (key) => `claims?claim=${encodedKey(key)}`;

/** A text to send to the board's host or the paper's authors. */
export function report(claim, address) {
  return [
    'A mistake in a claim on Likeness', '',
    `Claim: ${claim.claim}`,
    `Paper: ${claim.paper}, ${claim.where}`,
    `Printed: ${claim.printed || 'not printed as a figure'}`,
    `Recomputed: ${claim.recomputed || 'cannot be recomputed'}`,
    `Computed as: ${claim.formula || 'not computed'}`,
    `Verdict: ${VERDICT_NAMES[claim.verdict]}`,
    ...(claim.note ? [`Note: ${claim.note}`] : []),
    `Address: ${address}`, '',
    'What is wrong: ',
    'How I know (page, table or calculation): ',
  ].join('\n');
}

/** The card; `tables` are the published tables by `paper|text`. */
export function card(claim, tables) {
  const address = new URL(claimUrl(claim.key), document.baseURI).href;
  const behind = [claim.where, claim.formula].flatMap((text) => tables[`${claim.paper}|${text}`] ?? []);
  const figures = [...new Map(behind.map((table) => [table.key, table])).values()];
  const lines = [
    ['Computed as', claim.formula],
    ['Tables used', figures.length ? el('span', { class: 'lk-tables' }, ...figures.map(figure)) : ''],
    ['Why it matters', claim.why || WHY[claim.severity]],
    ['Note', claim.note],
  ];
  const link = button('Copy link', () => copyLink(link, address));
  return [
    el('h2', {}, claim.claim),
    el('p', { class: 'lk-quiet' }, `${claim.paper}, ${claim.where} · `,
      el('b', { class: `lk-verdict-${VERDICTS.indexOf(claim.verdict)}` }, VERDICT_NAMES[claim.verdict]),
      ` · ${SEVERITY_NAMES[claim.severity]}`),
    el('div', { class: 'lk-pair' }, value('Printed', claim.printed), value('Recomputed', claim.recomputed)),
    el('dl', {}, ...lines.filter(([, text]) => text).flatMap(([name, text]) => [el('dt', {}, name), el('dd', {}, text)])),
    el('div', { class: 'lk-bar' }, link),
    reporting(claim, address),
  ];
}

const value = (name, text) => el('div', {}, el('span', { class: 'lk-quiet' }, name), el('strong', {}, text || '—'));

function figure({ key, source, suite }) {
  return el('span', {}, el('a', { href: `published/${key}.csv`, download: '' }, `${source} as CSV`),
    suite && ' ', suite && el('a', { href: `board?suite=${suite}`, 'aria-label': `${source} on the board` }, 'on the board'));
}

function reporting(claim, address) {
  const text = report(claim, address);
  const area = el('textarea', { class: 'lk-report', rows: '14', readonly: true, 'aria-label': 'Report of a mistake', value: text });
  const copy = button('Copy report', () => copyText(copy, text, () => area.select()));
  return el('details', { class: 'lk-reporting' }, el('summary', {}, 'Report a mistake'),
    el('p', { class: 'lk-quiet' }, 'Copy this text, say what is wrong, and send it to the host of this board.'), area, copy);
}
