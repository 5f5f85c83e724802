/** The actions on the tray as a whole: Compare with what is still missing, Copy link, Clear. */

import { copyLink, el } from '../../../js/dom.js';
import { enable, press, say } from '../parts.js';
import { cost, many, sentence } from '../words.js';

/** How many models Compare asks, and what that costs the host. */
function scope(tray) {
  const judges = tray.judges();
  return `${many(tray.models().length, 'model')}${judges.length ? `. Asks ${cost(judges)}` : ''}`;
}

export function createActions(tray) {
  const reason = el('p', { class: 'tr-reason', id: 'tr-reason' });
  const go = press('Compare', ({ isTrusted }) => tray.compare({ pressed: isTrusted }), { class: 'tr-button tr-primary', 'aria-describedby': 'tr-reason', 'aria-keyshortcuts': 'Control+Enter Meta+Enter', title: 'Ctrl+Enter' });
  const retry = press('Retry', () => tray.ask(), { hidden: true });
  const link = press('Copy link', copy);
  const clear = press('Clear', () => tray.clear());
  const nodes = [go, reason, retry, el('span', { class: 'tr-end' }, link, clear)];

  async function copy() {
    const copied = await copyLink(link, tray.link(), (href) => tray.notice.say(`Link to this comparison: ${href}`));
    if (copied && tray.own()) tray.notice.say('The link is copied. It contains examples only: your own images and texts stay on this page.');
    else if (copied) tray.announce('The link is copied.');
  }

  function refresh() {
    const why = tray.reason();
    enable(go, !why);
    say(reason, why ? sentence(why) : tray.pending() ? '' : scope(tray));
    reason.classList.toggle('tr-failed', Boolean(tray.problem));
    retry.hidden = !tray.problem;
    enable(clear, tray.inputs.length > 0);
  }

  return { nodes, refresh };
}
