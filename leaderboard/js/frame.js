/** A page in a frame: whether another site shows it, where only the Hub's page of a Space counts as the app's own; and its height. */

const HUB = 'huggingface.co';

/** True in a frame, unless every page around it is the Hub's. `view` is the window. Where a browser does not name those pages, the page that opened the frame speaks for them. */
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

/**
 * Reports the page's height whenever it changes to a parent that sizes the frame by iframe-resizer, as the Hub's does. On
 * its own pages Gradio reports too, but omits the bar and gives up after a few growths: its reports take this height.
 * `script`: the address of iframe-resizer's part within the frame, which Gradio's pages load themselves.
 */
export function fillFrame(script) {
  if (window.parent === window) return;
  const start = () => {
    const { size } = window.parentIFrame;
    const report = () => size(document.body.offsetHeight);
    window.parentIFrame.size = report;
    new ResizeObserver(report).observe(document.body);
  };
  if (!window.iFrameResizer) {
    window.iFrameResizer = { autoResize: false, onReady: start };
    document.head.append(Object.assign(document.createElement('script'), { src: script }));
  } else if (window.parentIFrame) start();
  else window.addEventListener('gradio:iframe-resizer-ready', start, { once: true });
}
