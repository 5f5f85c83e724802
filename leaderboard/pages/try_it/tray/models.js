/** Which models answer: the ready ones by default, and those that the visitor ticked; others in groups to search. */

import { el } from '../../../js/dom.js';
import { kindWords } from '../../../js/kinds.js';
import { suggestion } from '../../../js/nearest.js';
import { arrange, press, say, section } from '../parts.js';
import { many, size } from '../words.js';

export const MOST_MODELS = 12;
const SUGGESTED = 'laion/clip-vit-b-32-laion2b-s34b-b79k'; // small, and good at both images and texts

const possible = (model) => model.state !== 'impossible';

/** Keys of the ticked models in the plan's order; `decisions` (key -> ticked) override the defaults. */
export function selected(models, decisions) {
  const able = models.filter(possible);
  const ticked = able.filter(({ key }) => decisions.get(key) === true);
  const usual = able.filter((model) => model.default && model.state === 'ready' && !decisions.has(model.key));
  const keys = new Set([...ticked, ...usual].slice(0, MOST_MODELS).map(({ key }) => key));
  return able.filter(({ key }) => keys.has(key)).map(({ key }) => key);
}

/** The selection for an address: null where it is the default one. */
export function written(models, decisions) {
  const keys = selected(models, decisions);
  return keys.join() === selected(models, new Map()).join() ? null : keys;
}

/** Decisions that leave exactly `keys` ticked, with a sentence for each that cannot be ticked. */
export function exactly(models, keys) {
  const lost = [];
  for (const key of keys) {
    const model = models.find((one) => one.key === key);
    if (!model) lost.push(`No model ${short(key)} answers this.${suggestion(key, models.map((one) => one.key))}`);
    else if (!possible(model)) lost.push(`${model.title} cannot run: ${model.why[0].toLowerCase()}${model.why.slice(1)}`);
  }
  return { decisions: new Map(models.map(({ key }) => [key, keys.includes(key)])), lost };
}

/** A key out of an address, quoted and cut to what a sentence can hold. */
export const short = (key) => `“${key.length > 60 ? `${key.slice(0, 60)}…` : key}”`;

/** Whether every word of a search is in the model's title, key or kind. */
export function matches(model, search) {
  const text = `${model.title} ${model.key} ${model.kind}`.toLowerCase();
  return search.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

const weight = ({ bytes }) => (bytes ? size(bytes) : 'unknown size');

/** The models that are not ready, by what prevents them: [{key, title, remedy, models}]; downloads first, none empty. Pure. */
export function grouped(models, reasons) {
  const of = (key) => models.filter((model) => model.state === 'impossible' && model.reason === key);
  const downloads = models.filter(({ state }) => state === 'download');
  return [
    { key: 'download', models: downloads, one: 'can be downloaded', many: 'can be downloaded', remedy: 'Tick a model: Compare downloads it first.' },
    ...reasons.map((reason) => ({ ...reason, models: of(reason.key) })),
  ].filter((group) => group.models.length)
    .map(({ key, one, many, remedy, models: those }) => ({ key, remedy, models: those, title: `${those.length} ${those.length === 1 ? one : many}` }));
}

export function createModels(tray) {
  const row = el('div', { class: 'tr-models', role: 'group', 'aria-label': 'Models to ask' });
  const quick = press('', () => tray.decide(SUGGESTED, true), { class: 'tr-button tr-quick' });
  const summary = el('summary');
  const search = el('input', { type: 'search', class: 'tr-search', placeholder: 'Find a model', 'aria-label': 'Find a model', autocomplete: 'off', spellcheck: 'false', oninput: () => sift() });
  const groups = el('div');
  const nothing = el('p', { class: 'tr-note', role: 'status' });
  const more = el('details', { class: 'tr-more', ontoggle: () => refresh() }, summary, search, groups, nothing);
  const full = el('p', { class: 'tr-note' }, `${MOST_MODELS} models at once are the most; untick one to ask another.`);
  const node = section('Models', row, full, quick, more);
  const stays = new Set(); // ticked before: these stay in the row, so that they can be ticked again
  const shown = new Map(); // in the row
  const listed = new Map(); // in the groups
  const drawn = new Map(); // groups by key

  function refresh() {
    const models = tray.plan?.models ?? [];
    node.hidden = models.length === 0;
    const chosen = new Set(tray.models());
    const most = chosen.size >= MOST_MODELS;
    full.hidden = !most;
    const update = (entries, model) => {
      if (!entries.has(model.key)) entries.set(model.key, createPick(tray, model.key, entries === listed));
      return entries.get(model.key).update(model, chosen.has(model.key), most);
    };
    chosen.forEach((key) => stays.add(key));
    const near = models.filter(({ key, state }) => state === 'ready' || (state === 'download' && stays.has(key)));
    arrange(row, near.map((model) => update(shown, model)));
    suggest(models.find(({ key }) => key === SUGGESTED), most);
    const others = models.filter(({ state }) => state !== 'ready');
    const downloads = others.filter(({ state }) => state === 'download').length;
    const parts = [`${downloads} to download`, others.length > downloads && `${others.length - downloads} not possible here`].filter(Boolean);
    say(summary, `${many(others.length, 'more model')}: ${downloads ? parts.join(', ') : 'not possible here'}`);
    more.hidden = others.length === 0;
    if (!more.open) return;
    arrange(groups, grouped(others, tray.plan.reasons).map((group) => {
      if (!drawn.has(group.key)) drawn.set(group.key, createGroup(group.key === 'download'));
      const { node: part, title, remedy, list } = drawn.get(group.key);
      say(title, group.title);
      say(remedy, group.remedy);
      arrange(list, group.models.map((model) => update(listed, model)));
      return part;
    }));
    sift(others);
  }

  function suggest(model, most) {
    const focused = document.activeElement === quick;
    quick.hidden = !model || model.state !== 'download' || stays.has(SUGGESTED) || most;
    if (model) say(quick, `Add ${model.title} (${weight(model)} download)`);
    if (quick.hidden && focused) shown.get(SUGGESTED)?.focus();
  }

  /** Hides what the search does not find; groups with hits are open while something is searched. */
  function sift(others = tray.plan.models.filter(({ state }) => state !== 'ready')) {
    const keys = new Set(others.filter((model) => matches(model, search.value)).map(({ key }) => key));
    others.forEach(({ key }) => { listed.get(key).node.hidden = !keys.has(key); });
    for (const { node: part, list } of drawn.values()) {
      part.hidden = ![...list.children].some((line) => !line.hidden);
      if (search.value.trim()) part.open = !part.hidden;
    }
    say(nothing, keys.size ? '' : `Nothing found.${suggestion(search.value, others.map(({ title }) => title))}`);
  }

  return { node, refresh };
}

/** Models that one reason keeps from answering, and what to do about it. */
function createGroup(open) {
  const title = el('summary');
  const remedy = el('p', { class: 'tr-note' });
  const list = el('ul', { class: 'tr-list', tabindex: '0', 'aria-label': 'Models of this group' }); // it scrolls, and may hold only disabled boxes
  return { node: el('details', { class: 'tr-group', open }, title, remedy, list), title, remedy, list };
}

/** A tick box for a model, also `inList` with what prevents its answer; `update` returns its node. */
function createPick(tray, key, inList) {
  const box = el('input', { type: 'checkbox', onchange: () => tray.decide(key, box.checked) });
  const title = el('span', { dir: 'auto' });
  const aside = el('small', { dir: 'auto' });
  const label = el('label', { class: 'tr-pick' }, box, title, aside);
  const node = inList ? el('li', {}, label) : label;
  node.dataset.key = key;
  function update(model, ticked, most) {
    box.checked = ticked;
    box.disabled = !possible(model) || (most && !ticked);
    say(title, model.title);
    say(aside, model.state === 'download' ? `${weight(model)} download` : inList ? model.why : model.requests ? 'judge' : '');
    label.title = [kindWords(model.kind), model.own && 'the host’s own model', model.loaded && 'in memory', box.disabled && most && `at most ${MOST_MODELS} at once`].filter(Boolean).join(', ');
    return node;
  }
  return { node, update, focus: () => box.focus() };
}
