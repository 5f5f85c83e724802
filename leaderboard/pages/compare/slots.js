/** The row of slots: one for each input, and an empty one at the end. */

import { el } from '../../js/dom.js';
import { createCell } from './cell.js';
import { createEmpty } from './empty.js';
import { labels, MOST } from './inputs.js';
import { arrange } from './parts.js';

export function createSlots(tray) {
  const empty = createEmpty(tray, { wrote: (id) => cells.get(id)?.focus() });
  const node = el('ol', { class: 'tr-slots', role: 'list', 'aria-label': 'Inputs' });
  const cells = new Map();

  function refresh() {
    const { inputs, mode } = tray;
    const names = labels(inputs, mode);
    const lost = [...cells.keys()].filter((id) => !inputs.some((input) => input.id === id));
    const orphan = lost.some((id) => cells.get(id).node.contains(document.activeElement));
    lost.forEach((id) => cells.delete(id));
    inputs.forEach((input, place) => {
      if (!cells.has(input.id)) cells.set(input.id, createCell(tray, input));
      // Where no mode fits, another reference may be what makes one fit.
      const choice = mode === 'choice' || (mode === '' && inputs.length > 2);
      cells.get(input.id).refresh(input, { label: names[place], place, last: inputs.length - 1, choice });
    });
    arrange(node, [...inputs.map(({ id }) => cells.get(id).node), ...(inputs.length < MOST ? [empty.node] : [])]);
    empty.refresh();
    if (orphan) focus();
  }

  /** Where the keys go after what held them is gone: the last input's Remove, or the first button of the empty slot. */
  function focus() {
    const last = tray.inputs.at(-1);
    if (last) cells.get(last.id).remove.focus();
    else empty.focus();
  }

  return { node, refresh, focus };
}
