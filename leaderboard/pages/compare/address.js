/** The page's query string <-> what the tray asks. Only examples are ever written. Pure. */

import { MOST } from './inputs.js';
import { MOST_MODELS, short } from './picks.js';
import { ABOUT, QUESTIONS } from './words.js';

const OWN = ['mode', 'inputs', 'models', 'question'];

/**
 * Reads a query string: {mode, question, inputs, models, lost}. `inputs` are keys of `examples` (a Set), null where
 * the address names none; `models` are unchecked keys or null; `lost` are sentences on what was left out.
 */
export function parse(search, examples) {
  const query = new URLSearchParams(search);
  const lost = [];
  const one = (key, known, what) => {
    const value = query.get(key) ?? '';
    if (!value || known.includes(value)) return value;
    lost.push(`The link asks for ${what} ${short(value)}, which does not exist.`);
    return '';
  };
  const list = (key) => (query.has(key) ? [...new Set(query.get(key).split(',').filter(Boolean))] : null);
  const mode = one('mode', Object.keys(ABOUT), 'a mode');
  const question = one('question', QUESTIONS, 'a question') || QUESTIONS[0];
  let inputs = query.has('inputs') ? query.get('inputs').split(',').filter(Boolean) : null;
  const unknown = (inputs ?? []).filter((key) => !examples.has(key));
  if (unknown.length) lost.push(`No example ${unknown.slice(0, 5).map(short).join(', ')} is here; the rest of the link is shown.`);
  inputs = inputs?.filter((key) => examples.has(key)) ?? null;
  if (inputs?.length > MOST) lost.push(`The link holds more than ${MOST} inputs; the first ${MOST} are shown.`);
  const models = query.get('models') === 'none' ? [] : list('models');
  return { mode, question, inputs: inputs?.slice(0, MOST) ?? null, whole: !unknown.length, models: models?.slice(0, MOST_MODELS) ?? null, lost };
}

/** Writes what differs from the defaults; null leaves a part out, and parameters of others in `search` stay. */
export function write(search, { mode, question, inputs, models }) {
  const query = [...new URLSearchParams(search)].filter(([key]) => !OWN.includes(key));
  if (mode) query.push(['mode', mode]);
  if (inputs?.length) query.push(['inputs', inputs.join(',')]);
  if (models) query.push(['models', models.length ? models.join(',') : 'none']);
  if (question !== QUESTIONS[0]) query.push(['question', question]);
  const readable = (text) => encodeURIComponent(text).replace(/%(2C|2F|3A)/g, decodeURIComponent).replace(/%20/g, '+');
  return query.map(([key, value]) => `${readable(key)}=${readable(value)}`).join('&');
}
