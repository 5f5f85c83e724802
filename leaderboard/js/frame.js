/** Whether another site shows this page in a frame. Only the Hub's page of a Space counts as the app's own. */

const HUB = 'huggingface.co';

/**
 * True in a frame, unless every page around it is the Hub's. `view` is the window. Where a browser does not name those
 * pages, the page that opened the frame speaks for them.
 */
export function inForeignFrame(view = window) {
  if (view.top === view.self) return false;
  const around = view.location.ancestorOrigins ? [...view.location.ancestorOrigins] : [view.document.referrer];
  return !around.every(isHub);
}

function isHub(address) {
  if (!URL.canParse(address)) return false;
  const { protocol, host } = new URL(address);
  return protocol === 'https:' && host === HUB;
}
