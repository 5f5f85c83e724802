/** A small payload in the shape the server sends: 5 rows, 2 families, 3 tasks. */

export function payload() {
  const column = (key, kind, group, more = {}) => ({
    key, title: key, group, kind, metric: 'accuracy', metric_title: 'Accuracy', higher: true, digits: 1, chance: null, n: null,
    default: kind === 'family', low: 10, high: 90, ...more,
  });
  const row = (name, more = {}) => ({
    id: `lab/${name}~published`, model: `lab/${name}`, title: name.toUpperCase(), organisation: 'Lab', family: 'F', kind: 'encoder',
    parameters: 150, memory: null, dimension: 512, tokens: 77, late: false, open: true, released: '2021-01-05', modalities: ['image', 'text'], group: '', origin: 'published', own: false, license: 'mit', training_code: null, training_data: null, paper: '', untrained: null, usable: true, instructions: null, trained: 'no', ...more,
  });
  return {
    origin: 'published',
    suite: { key: 'small', title: 'Small', aggregate: 'category-mean', minimum_coverage: 1, mean_title: 'Mean of 2 category means' },
    suites: [{ key: 'small', title: 'Small', benchmark_title: 'B', group: 'B', variant: 'All' }],
    presets: [{ key: 'equal', title: 'Equal', weights: { 'Img-2AFC': 1, IQA: 1 } }, { key: 'iqa', title: 'IQA twice', weights: { 'Img-2AFC': 1, IQA: 2 } }],
    categories: ['Img-2AFC', 'IQA'],
    choices: { conditions: [], metrics: [], splits: [] },
    columns: [
      column('Img-2AFC', 'family', 'Categories'), column('IQA', 'family', 'Categories'),
      column('u/nights', 'task', 'Img-2AFC'), column('u/bapps', 'task', 'Img-2AFC'), column('u/fid', 'task', 'IQA', { higher: false }),
    ],
    rows: [
      row('alpha'),
      row('beta', { kind: 'metric', usable: false, instructions: true, parameters: null, open: null, modalities: ['image'], released: '', license: '', trained: 'unknown' }),
      row('gamma', { parameters: 7000, open: false, origin: 'computed', released: '2024-06-01', license: 'cc-by-nc-4.0', trained: 'yes' }),
      row('delta', { parameters: 1000, organisation: 'Other', group: 'specialised', released: '2023-03-01' }),
      row('alpha2', { parameters: 99.9 }),
    ],
    cells: [
      [800, 700, 810, null, 300],
      [600, 500, null, 620, 100],
      [900, 400, 900, 880, 900],
      [700, 600, 700, null, null],
      [800, null, 790, 800, 300],
    ],
    marks: {}, reasons: ['Not evaluated by the paper'], missing: {},
    ranking: {
      rank: [1, 4, 2, 3, null], low: [1, 3, 1, null, null], high: [2, 4, 3, null, null], tie: ['A', 'B', 'A', '', ''],
      mean: [75, 55, 65, 65, null], mean_low: [74, 54, 64, null, null], mean_high: [76, 56, 66, null, null],
      coverage: [1, 1, 1, 1, 0.5], covered: [1, 1, 1, 1, 0.5], why: ['', '', '', '', 'covers half of the tasks'], few: [false, true, false, false, false],
      unknown: ['', '', '', 'printed means stand for IQA', ''], fixed: [], changed: '',
    },
  };
}
