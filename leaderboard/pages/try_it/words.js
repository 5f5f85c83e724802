/** Texts used by several parts of the page, and readable numbers. Pure. */

import { rounded } from '../../js/number.js';

/** The question of each mode; the server says which modes exist and fit. */
export const ABOUT = {
  pair: 'How similar the two are to each model.',
  choice: 'Which alternative is nearest to the reference for each model.',
  odd: 'Which image is least similar to the others for each model.',
  quality: 'How each model rates a single image.',
};

/** What mode `quality` can ask; the first is the default. */
export const QUESTIONS = ['quality', 'brightness', 'colorfulness', 'contrast', 'sharpness'];

/** Bytes with the unit of a download: `605 MB`, `1.8 GB`. */
export function size(bytes) {
  const steps = [['GB', 1e9], ['MB', 1e6], ['kB', 1e3]];
  const [unit, one] = steps.find(([, least]) => bytes >= least) ?? ['bytes', 1];
  const amount = bytes / one;
  return `${amount < 10 && one > 1 ? rounded(amount, 1).replace(/\.0$/, '') : rounded(amount, 0)} ${unit}`;
}

/** `1 file`, `3 files`. */
export const many = (count, one, more = `${one}s`) => `${count} ${count === 1 ? one : more}`;

/** What asking judges costs: `2 judges: 8 questions, 4 requests to the host’s endpoint, the others on the app’s own machine.` */
export function cost(judges) {
  const sum = (name) => judges.reduce((total, judge) => total + (judge[name] ?? 0), 0);
  const [questions, requests] = [sum('questions'), sum('requests')];
  const own = judges.some((judge) => !judge.requests) && `${requests ? 'the others' : 'all'} on the app’s own machine`;
  const parts = [questions && many(questions, 'question'), requests && `${many(requests, 'request')} to the host’s endpoint`, own];
  return `${many(judges.length, 'judge')}: ${parts.filter(Boolean).join(', ')}.`;
}

/** A sentence ends in a point, whatever wrote it. */
export const sentence = (text) => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** Seconds that something still takes: `about 5 s left`, `about 6 min left`; '' where unknown. */
export const left = (seconds) => (seconds === null ? '' : seconds < 90 ? `about ${Math.max(1, Math.ceil(seconds))} s left` : `about ${rounded(seconds / 60, 0)} min left`);
