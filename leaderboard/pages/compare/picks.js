/** Which models answer: the ready ones by default, and what the visitor ticked or unticked. Pure. */

export const MOST_MODELS = 12;
export const SUGGESTED = 'laion/clip-vit-b-32-laion2b-s34b-b79k'; // small, and good at images and texts alike

const possible = (model) => model.state !== 'impossible';

/** Keys of the ticked models in the plan's order; `decisions` (key -> ticked) stand above the defaults. */
export function selected(models, decisions) {
  const able = models.filter(possible);
  const asked = able.filter(({ key }) => decisions.get(key) === true);
  const usual = able.filter((model) => model.default && model.state === 'ready' && !decisions.has(model.key));
  const kept = new Set([...asked, ...usual].slice(0, MOST_MODELS).map(({ key }) => key));
  return able.filter(({ key }) => kept.has(key)).map(({ key }) => key);
}

/** The selection for an address: null where it is the default one. */
export function written(models, decisions) {
  const keys = selected(models, decisions);
  return keys.join() === selected(models, new Map()).join() ? null : keys;
}

/** Decisions that leave exactly `keys` ticked, with a sentence for each one that cannot be. */
export function exactly(models, keys) {
  const lost = [];
  for (const key of keys) {
    const model = models.find((one) => one.key === key);
    if (!model) lost.push(`No model ${short(key)} answers this.`);
    else if (!possible(model)) lost.push(`${model.title} is not possible here: ${model.why}`);
  }
  return { decisions: new Map(models.map(({ key }) => [key, keys.includes(key)])), lost };
}

/** A key out of an address, quoted and cut to what a sentence can hold. */
export const short = (key) => `“${key.length > 60 ? `${key.slice(0, 60)}…` : key}”`;

/** Whether every word of a search stands in the model's title, key or kind. */
export function found(model, search) {
  const text = `${model.title} ${model.key} ${model.kind}`.toLowerCase();
  return search.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
