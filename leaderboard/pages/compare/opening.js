/** What the tray holds when the page opens: the address's own comparison, or the first ready one. */

import { parse } from './address.js';
import { exactly } from './picks.js';
import { QUESTIONS, sentence } from './words.js';

/**
 * Fetches the examples, fills an empty tray, and asks the server what fits. A link that names inputs is answered at
 * once, unless one of them is not here or a model must be downloaded first: no link starts a download. What the link
 * names in vain is said in a sentence.
 */
export async function open(tray) {
  tray.notice.say('');
  const failed = await load(tray);
  const asked = parse(location.search, tray.examples);
  const fresh = tray.untouched; // after a failed first attempt the visitor may have begun on something else
  if (fresh) fill(tray, asked);
  await tray.ask();
  const { plan } = tray;
  const lost = fresh ? [...asked.lost] : [];
  if (fresh && asked.models && plan) {
    const { decisions, lost: missing } = exactly(plan.models, asked.models);
    tray.decisions = decisions;
    lost.push(...missing);
  }
  const linked = fresh && asked.inputs?.length > 0;
  if (linked && asked.mode && plan && tray.mode !== asked.mode) lost.push('The mode of the link does not fit its inputs.');
  if (failed) tray.notice.say(`The examples did not load. ${failed}`, () => open(tray));
  else if (lost.length) tray.notice.say(lost.map(sentence).join(' '));
  tray.refresh();
  tray.root.dataset.ready = plan ? 'true' : 'error';
  if (linked && asked.whole && !tray.reason() && !tray.absent()) tray.compare();
}

/** Fetches the examples; hands back what went wrong, as a sentence. */
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

function fill(tray, asked) {
  const ready = tray.comparisons.find(({ mode }) => mode === asked.mode) ?? tray.comparisons[0];
  const shown = asked.inputs?.length ? asked : ready ?? asked;
  Object.assign(tray, { asked: shown.mode, mode: shown.mode, question: shown.question || QUESTIONS[0] });
  tray.inputs = (shown.inputs ?? []).map((key) => tray.made(key));
}
