/** Ready comparisons: what each expects, which models get it, and what a download would bring. */

import { el } from '../../../js/dom.js';
import { inForeignFrame } from '../../../js/frame.js';
import { exampleKeys, labels } from './inputs.js';
import { arrange, press, say, section } from '../parts.js';
import { sentence, size } from '../words.js';

const AGAIN = 1500; // ms until the server is asked again, while models are still answering
const TRIES = 80;

/** The expected answer of a comparison in words: `B, The cup, blurred`. `titles` are by example key. Pure. */
export function expectedAnswer({ mode, inputs, expected }, titles) {
  if (expected === null || expected === undefined) return 'a matching pair';
  const index = expected + (mode === 'choice' ? 1 : 0);
  return `${labels(inputs, mode)[index]}, ${titles.get(inputs[index])}`;
}

/** How many of the models that answered within what they were calibrated on got it; '' where nothing is known. Pure. */
export function gotItCount(record) {
  if (!record) return '';
  const [right, all] = [record.right.length, record.right.length + record.wrong.length + record.silent.length];
  if (!record.done) return all ? `${right} of ${all} so far` : '';
  if (all) return `${right} of ${all} got it`;
  return record.outside.length ? 'no calibrated model' : 'no model takes it';
}

/** Which models got it and which did not, in sentences. Pure. */
export function gotIt(record) {
  if (!record) return '';
  const lists = [['Got it', record.right], ['Missed it', record.wrong], ['Not counted, outside what they were calibrated on', record.outside], ['No clear answer', record.silent], ['Could not answer', record.failed]];
  const said = lists.filter(([, titles]) => titles.length).map(([words, titles]) => `${words}: ${titles.join(', ')}.`);
  return [...said, record.done ? '' : 'Other models are still answering.'].filter(Boolean).join(' ');
}

export function createReady(tray) {
  const list = el('ul', { class: 'tr-ready' });
  const chosen = el('p', { class: 'tr-note' });
  const answers = el('ul', { class: 'tr-answers' });
  const every = el('details', {}, el('summary', {}, 'Expected answers, and which models get them'), answers);
  const node = section('Comparisons', list, chosen, every);
  const entries = new Map(); // by comparison: its button with a count, its line and the download it offers
  let drawn = null;
  let records = {};
  let timer = 0;

  function draw() {
    const titles = new Map([...tray.examples.values()].map((example) => [example.key, example.title]));
    entries.clear();
    tray.comparisons.forEach((one) => entries.set(one.key, createEntry(tray, one, titles)));
    list.replaceChildren(...[...entries.values()].map(({ item }) => item));
    answers.replaceChildren(...[...entries.values()].map(({ line }) => line));
    node.hidden = entries.size === 0;
    if (entries.size && !inForeignFrame()) ask();
  }

  /** Asks which models got them, again while some are still answering; what fails leaves the comparisons to use. */
  async function ask(tries = TRIES) {
    clearTimeout(timer);
    let answer = null;
    try {
      answer = await tray.server.get('live/ready');
    } catch {
      return;
    }
    records = answer.comparisons;
    refresh();
    if (!answer.done && tries > 1 && node.isConnected) timer = setTimeout(() => ask(tries - 1), AGAIN);
  }

  function refresh() {
    if (drawn !== tray.examples) {
      drawn = tray.examples;
      draw();
    }
    const keys = exampleKeys(tray.inputs)?.join();
    let current = null;
    for (const one of tray.comparisons) {
      const isChosen = keys === one.inputs.join() && tray.mode === one.mode;
      entries.get(one.key).refresh(records[one.key], isChosen);
      if (isChosen) current = one;
    }
    say(chosen, current?.lesson ?? '');
    chosen.hidden = !current;
    arrange(chosen.parentElement, [list, ...(current ? [entries.get(current.key).above] : []), chosen, every]);
  }

  return { node, refresh, ask };
}

/** One comparison: its button with a count, its line among the answers, and the same line for the chosen one. */
function createEntry(tray, one, titles) {
  const button = press(one.title, () => tray.take(one), { 'data-key': one.key, dir: 'auto' });
  const count = el('small');
  const lines = [one.title, ''].map((title) => createLine(tray, one, { title, expected: expectedAnswer(one, titles) }));
  function refresh(record, isChosen) {
    button.setAttribute('aria-pressed', String(isChosen));
    say(count, gotItCount(record));
    count.title = count.textContent;
    lines.forEach((line) => line.refresh(record));
  }
  return { item: el('li', {}, button, count), line: el('li', {}, lines[0].node), above: lines[1].node, refresh };
}

/** What is expected and who got it, and a button for the download that may bring an answer. */
function createLine(tray, one, { title, expected }) {
  const who = el('span');
  const offer = el('span');
  const bring = press('', () => take(), { class: 'tr-link', hidden: true });
  const node = el('p', { class: 'tr-expected', dir: 'auto' }, title && el('b', {}, title), title && ' ', el('span', {}, `Expected: ${sentence(expected)}`), ' ', who, ' ', offer, ' ', bring);
  let model = null;

  function take() {
    tray.take(one);
    tray.decide(model.key, true);
    tray.compare(); // the press was for a download: its words name no judge
  }

  function refresh(record) {
    model = record?.download ?? null;
    say(who, gotIt(record));
    const weight = model?.bytes ? size(model.bytes) : 'unknown size';
    const here = model?.state === 'download';
    say(offer, !model ? '' : here ? 'No model that is ready gets it.' : `No model that is ready gets it. ${model.title} may: a download of ${weight}, and there is no network here.`);
    say(bring, model ? `Download and ask ${model.title} (${weight})` : '');
    bring.hidden = !here;
  }

  return { node, refresh };
}
