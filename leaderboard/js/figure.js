/** Plotly figures that Gradio draws: it may draw one again at any time, so listeners are attached again. */

/** Calls `connect(plot)` for the plotly figure inside the element `id`, and again whenever Gradio draws it again. */
export function attach(owner, id, connect) {
  let waiting = 0;
  const look = () => {
    waiting = 0;
    if (!owner.isConnected) {
      watcher.disconnect();
      return;
    }
    const plot = document.getElementById(id)?.querySelector('.js-plotly-plot');
    if (plot?.on && plot.data) connect(plot);
  };
  const soon = () => { waiting ||= requestAnimationFrame(look); };
  const watcher = new MutationObserver(soon);
  const figure = document.getElementById(id);
  watcher.observe(figure?.parentElement ?? document.body, { childList: true, subtree: true });
  soon();
}

/** Listens to an event of the figure; a second call with the same function changes nothing. */
export function listen(plot, name, run) {
  plot.removeListener?.(name, run);
  plot.on(name, run);
}
