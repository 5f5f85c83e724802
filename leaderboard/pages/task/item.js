/** One item with its answers: images, texts, the right answer, and each model's answer. */

import { el } from '../../js/dom.js';

const SIGNS = new Map([[true, ['✓', 'right']], [false, ['✗', 'wrong']]]);

/** The address of a small picture, relative to the app's root. */
export const pictureOf = (task, image) => `thumbnails/${task}/${image}.webp`;

/** What a picture shows, in words: `Alternative B, the right one, of item 12`. */
export function altOf({ role, label, right, name }, item) {
  const marked = right ? (role === 'Hit' ? ', relevant' : ', the right one') : '';
  return `${role}${label ? ` ${label}` : ''}${name ? ` (${name})` : ''}${marked}, of ${item}`;
}

/** A model's verdict in words: right, wrong, unread (a judge's), or tied; '' where nothing is right or wrong. */
export function verdictOf({ right, reply, answer }, scored) {
  if (!scored) return '';
  if (right === true || right === false) return SIGNS.get(right)[1];
  if (reply !== undefined) return 'unread';
  return answer.includes('/') ? 'tied' : 'undecided';
}

/** One item as a list entry; `scored`: items of this task are right or wrong. */
export function drawItem(item, { task, scored, several, expected: word }) {
  const picked = new Set(several ? [] : item.verdicts.flatMap((one) => one.picked ?? []));
  return el('li', { class: 'lk-item' },
    el('p', { class: 'lk-item-name' }, el('b', {}, item.item), item.subset && ` · subset ${item.subset}`),
    ...listed(item.parts, { item, task, picked, withScores: !several }),
    expected(item, word),
    item.why && el('p', { class: 'lk-expected' }, item.why),
    ...item.verdicts.map((verdict) => answer(verdict, { item, task, scored, several })));
}

/** Parts in reading order: neighbouring pictures side by side, neighbouring texts below each other. */
function listed(parts, { item, task, picked = new Set(), withScores = true, small = false }) {
  const runs = [];
  for (const part of parts) {
    const pictured = Boolean(part.image || part.missing);
    if (runs.at(-1)?.pictured !== pictured) runs.push({ pictured, parts: [] });
    runs.at(-1).parts.push(part);
  }
  const shown = (part) => (withScores ? part : { ...part, score: '' });
  return runs.map(({ pictured, parts: own }) => (pictured
    ? el('div', { class: `lk-strip-of${small ? ' lk-hits' : ''}` }, ...own.map((part) => figure(shown(part), item, task, picked)))
    : el('dl', { class: 'lk-texts' }, ...own.flatMap((part) => textEntry(shown(part), picked)))));
}

function figure(part, item, task, picked) {
  const { label, role, image, right, score, text } = part;
  const box = image
    ? el('img', { src: pictureOf(task, image), alt: altOf(part, item.item), title: altOf(part, item.item), loading: 'lazy', decoding: 'async' })
    : el('span', { class: 'lk-nopicture' }, 'no picture stored');
  const name = label || (role === 'Item' ? '' : role);
  const chosen = picked.has(label) || picked.has(`${role} ${label}`);
  return el('figure', { class: right ? 'lk-right' : null }, box,
    el('figcaption', {}, el('span', {}, name, right && el('b', {}, ' ✓')), chosen && el('i', {}, 'picked'), score && el('small', {}, score)),
    text && el('span', { class: 'lk-caption-of', title: text }, text));
}

function textEntry({ role, label, text, right, name, score }, picked) {
  const chosen = picked.has(label) || picked.has(`${role} ${label}`);
  return [el('dt', {}, role === 'Alternative' ? label : `${role}${label ? ` ${label}` : ''}`, right && el('b', {}, ' ✓')),
    el('dd', {}, text, (chosen || score || name) && el('small', {}, [name, score, chosen && 'picked'].filter(Boolean).join(' · ')))];
}

/** Written out where no picture or text is marked as the right one. */
function expected(item, word) {
  if (item.parts.some(({ right }) => right) || !item.expected) return null;
  if (item.verdicts.some(({ hits }) => hits?.some(({ right }) => right))) return null;
  return el('p', { class: 'lk-expected' }, el('span', {}, word), ` ${item.expected}`);
}

function answer(verdict, { item, task, scored, several }) {
  const { title, right, margin, scores = [], hits = [], reply, replies = [] } = verdict;
  const words = verdictOf(verdict, scored);
  const unread = reply !== undefined && words === 'unread';
  const line = el('p', { class: 'lk-answer' },
    several ? el('span', { class: 'lk-who' }, title) : !scored && el('span', { class: 'lk-one' }, 'Model'),
    !unread && el('span', { class: 'lk-said' }, hits.length ? `first: ${verdict.answer}` : verdict.answer || 'no answer'),
    words && el('span', { class: `lk-verdict lk-${words}` }, `${SIGNS.get(right)?.[0] ?? '–'} ${words}`),
    margin && el('span', { class: 'lk-margin' }, margin),
    scores.length > 0 && el('span', { class: 'lk-scores' }, scores.map(([label, score]) => `${label} ${score}`).join(' · ')));
  return el('div', { class: 'lk-verdict-of' }, line, ...listed(hits, { item, task, small: true }),
    reply !== undefined && el('blockquote', { title: 'The unedited reply' }, reply || '(an empty reply)'),
    ...replies.map(([order, text, problem]) => el('blockquote', { title: 'The unedited reply' },
      el('small', {}, `${order}${problem && ` · no score: ${problem}`}`), el('br'), text || '(an empty reply)')));
}
