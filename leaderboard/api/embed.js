/** A table of a suite on any site: <script src="ADDRESS/embed.js" data-suite="mieb" data-models="KEY,KEY" data-limit="5" data-data="1.4"></script> */
(async () => {
  const script = document.currentScript;
  const { suite = 'mieb', models = '', limit = '5', data = '' } = script.dataset;
  const root = new URL('.', script.src);
  const make = (name, ...children) => {
    const node = document.createElement(name);
    node.append(...children);
    return node;
  };
  const link = (href, text) => Object.assign(make('a', text), { href: new URL(href, root).href });
  const place = document.createElement('div');
  script.after(place);
  const shadow = place.attachShadow({ mode: 'open' });
  const style = make('style', `:host { font: 14px/1.4 system-ui, sans-serif; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
    caption { text-align: left; padding-bottom: .25rem; } th, td { text-align: left; font-weight: 400; padding: .2rem .75rem .2rem 0; border-bottom: 1px solid color-mix(in srgb, currentcolor 20%, transparent); }
    td:last-child, th:last-child { text-align: right; } small { opacity: .75; } a { color: inherit; }`);
  const state = data && `&data=${encodeURIComponent(data)}`;
  const answer = await fetch(new URL(`api/v1/suites/${encodeURIComponent(suite)}/ranking?limit=1000${state}`, root))
    .then((response) => response.json())
    .catch(() => ({ error: 'The board does not answer' }));
  if (answer.error) return shadow.append(style, make('p', answer.error));
  const wanted = models.split(',').map((key) => key.trim()).filter(Boolean);
  const rows = wanted.length ? answer.result.filter(({ model }) => wanted.includes(model)) : answer.result.slice(0, Number(limit));
  const known = rows.map(({ model }) => model);
  const absent = wanted.filter((key) => !known.includes(key));
  const range = ({ rank_low: low, rank_high: high }) => (low === null || low === high ? '' : ` ${low}–${high}`);
  return shadow.append(style, make('table',
    make('caption', link(`board?suite=${encodeURIComponent(suite)}${state}`, suite), make('small', ` ${answer.result.filter(({ rank }) => rank).length} ranked models, data ${answer.data}`)),
    make('thead', make('tr', make('th', 'Rank'), make('th', 'Model'), make('th', 'Mean'))),
    make('tbody', ...rows.map((row) => make('tr',
      make('td', String(row.rank ?? '–'), make('small', range(row))),
      make('td', link(`model?model=${encodeURIComponent(row.model)}${state}`, row.title)),
      make('td', row.mean === null ? '–' : row.mean.toLocaleString('en', { maximumSignificantDigits: 3, useGrouping: false }), ' ', make('small', row.unit)))))),
  ...(absent.length ? [make('p', `Not in this suite: ${absent.join(', ')}`)] : []));
})();
