/** What the colours of a column run between. */

/** The lowest, highest and best figure of a column over `rows`; `figure(row)` is null where there is none that counts. */
export function columnScale(rows, figure, higher) {
  const figures = rows.map(figure).filter((one) => one !== null);
  const [low, high] = [Math.min(...figures), Math.max(...figures)];
  return { low, high, higher, best: higher ? high : low };
}
