/** What the colours of a column run between. */

/** The lowest, highest and best score of a column over `rows`; `score(row)` is null where there is none that counts. */
export function columnScale(rows, score, higher) {
  const scores = rows.map(score).filter((one) => one !== null);
  const [low, high] = [Math.min(...scores), Math.max(...scores)];
  return { low, high, higher, best: higher ? high : low };
}
