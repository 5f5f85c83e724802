const table = document.querySelector('table');
const body = table.tBodies[0];
const heads = [...table.tHead.rows[0].cells];

/** The value of a cell to sort by: a number where it is one, or null where there is none. */
function valueOf(row, at) {
  const text = row.cells[at].dataset.value;
  if (text === '') return null;
  return row.cells[at].matches('th') || Number.isNaN(Number(text)) ? text : Number(text);
}

function sortBy(at) {
  const head = heads[at];
  const { first } = head.firstElementChild.dataset;
  const sorted = head.ariaSort !== 'none';
  const ascending = sorted ? head.ariaSort === 'descending' : first === 'ascending';
  const rows = [...body.rows].map((row) => ({ row, value: valueOf(row, at) }));
  rows.sort((one, other) => {
    if (one.value === null || other.value === null) return (one.value === null) - (other.value === null);
    const order = typeof one.value === 'string' ? one.value.localeCompare(other.value) : one.value - other.value;
    return ascending ? order : -order;
  });
  body.append(...rows.map(({ row }) => row));
  for (const other of heads) other.ariaSort = 'none';
  head.ariaSort = ascending ? 'ascending' : 'descending';
  table.classList.toggle('by-rank', at === 0 && ascending);
}

/** Says that there are more columns where the table is wider than the screen. */
function showCue() {
  const region = table.parentElement;
  document.querySelector('.cue').hidden = region.scrollWidth <= region.clientWidth;
}

showCue();
new ResizeObserver(showCue).observe(table.parentElement);
heads.forEach((head, at) => head.firstElementChild.addEventListener('click', () => sortBy(at)));
table.classList.add('by-rank');
