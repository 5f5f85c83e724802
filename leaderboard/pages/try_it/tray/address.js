/** The tray and the address of the page: its query string, and what the tray holds when the page opens. */

import { withValues } from '../../../js/address.js';
import { inForeignFrame } from '../../../js/frame.js';
import { MOST } from './inputs.js';
import { exactly, MOST_MODELS, short } from './models.js';
import { ABOUT, cost, QUESTIONS, sentence } from '../words.js';

/** Reads a query string: {mode, question, inputs, models, lost}. `inputs` are keys of `examples` (a Set), null where the address names none; `models` are unchecked keys or null; `lost` are sentences on what was ignored. */
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
  if (unknown.length) lost.push(`No example ${unknown.slice(0, 5).map(short).join(', ')} exists; the rest of the link is shown.`);
  inputs = inputs?.filter((key) => examples.has(key)) ?? null;
  if (inputs?.length > MOST) lost.push(`The link holds more than ${MOST} inputs; the first ${MOST} are shown.`);
  const models = query.get('models') === 'none' ? [] : list('models');
  return { mode, question, inputs: inputs?.slice(0, MOST) ?? null, whole: !unknown.length, models: models?.slice(0, MOST_MODELS) ?? null, lost };
}

/** Writes what differs from the defaults; null omits a part, and parameters of others in `search` stay. */
export function write(search, { mode, question, inputs, models }) {
  return withValues(search, {
    mode, inputs: inputs?.join(','), models: models && (models.join(',') || 'none'), question: question === QUESTIONS[0] ? '' : question,
  });
}

/**
 * Fetches the examples, fills an empty tray, and asks the server what fits. What a link names, else the first ready
 * comparison, is answered at once, unless an example is missing or a model must be downloaded first: no link starts a
 * download or a judge, and in another site's frame no link starts anything. A notice names everything of the link that
 * does not exist. `filled` is called once the inputs are there, before the server has answered.
 */
export async function open(tray, filled = () => {}) {
  tray.notice.say('');
  const failed = await load(tray);
  const link = parse(location.search, tray.examples);
  const fresh = tray.untouched; // after a failed first attempt the visitor may have begun on something else
  if (fresh) fill(tray, link);
  filled();
  await tray.ask();
  const { plan } = tray;
  const lost = fresh ? [...link.lost] : [];
  if (fresh && link.models && plan) {
    const { decisions, lost: missing } = exactly(plan.models, link.models);
    tray.decisions = decisions;
    lost.push(...missing);
  }
  const answerNow = fresh && !inForeignFrame();
  const linked = link.inputs?.length > 0;
  if (answerNow && linked && link.mode && plan && tray.mode !== link.mode) lost.push('The mode of the link does not fit its inputs.');
  // What a visitor has begun on meanwhile waits for a press, and so do models that a link names without inputs.
  const asks = answerNow && (linked || !link.models) && tray.untouched && plan && link.whole && !tray.reason() && !tray.absent();
  if (asks && tray.judges().length) lost.push(`Judges are asked only when you press Compare: ${cost(tray.judges())}`);
  if (failed) tray.notice.say(`The examples did not load. ${failed}`, () => open(tray));
  else if (lost.length) tray.notice.say(lost.map(sentence).join(' '));
  tray.refresh();
  if (asks) tray.compare({ opening: !linked });
  tray.root.dataset.ready = plan ? 'true' : 'error';
}

/** Fetches the examples; returns what went wrong, as a sentence. */
async function load(tray) {
  try {
    const { inputs, comparisons } = await tray.server.get('live/examples');
    tray.examples = new Map(inputs.map((example) => [example.key, example]));
    tray.comparisons = comparisons.filter((one) => one.inputs.every((key) => tray.examples.has(key)));
    return '';
  } catch (error) {
    return error.message;
  }
}

function fill(tray, link) {
  const ready = tray.comparisons.find(({ mode }) => mode === link.mode) ?? tray.comparisons[0];
  const start = link.inputs?.length ? link : ready ?? link;
  tray.starters.open = !link.inputs?.length;
  if (!link.inputs?.length) tray.opening = link.mode;
  Object.assign(tray, { chosenMode: start.mode, mode: start.mode, question: start.question || QUESTIONS[0] });
  tray.inputs = (start.inputs ?? []).map((key) => tray.exampleInput(key));
}
