/** The kinds of models in words. */

const KINDS = new Map([['metric', 'perceptual metric'], ['mllm', 'vision-language model'], ['distribution', 'distribution metric']]);

/** A kind in words within a sentence; one that is not known is its own word. */
export const kindWords = (kind) => KINDS.get(kind) ?? kind;
