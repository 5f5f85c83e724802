/** The one rule by which a number becomes text, as in compute/rounding.py: half to even on its decimal digits. Pure. */

const DIGITS = 10; // significant, in shown units: what float arithmetic adds beyond them is noise

/** A finite number in shown units as text with `digits` decimals: 37.45 with one gives 37.4, where toFixed gives 37.5. Zero has no sign. Throws RangeError for what is not a finite number: say in words what is missing. */
export function rounded(value, digits) {
  if (!Number.isFinite(value)) throw new RangeError(`${value} has no digits to show`);
  const [mantissa, power] = Math.abs(value).toExponential(DIGITS - 1).split('e');
  const all = Number(mantissa.replace('.', ''));
  const shift = Number(power) - (DIGITS - 1) + digits; // the number is all * 10^shift of its last decimal
  let last = String(all);
  if (shift > 0 && all) last += '0'.repeat(shift);
  else if (shift < 0) {
    const unit = 10 ** Math.min(-shift, DIGITS + 1); // beyond that nothing is left in either case
    const rest = all % unit;
    const below = (all - rest) / unit;
    last = String(2 * rest > unit || (2 * rest === unit && below % 2) ? below + 1 : below);
  }
  const text = last.padStart(digits + 1, '0');
  const sign = value < 0 && Number(last) !== 0 ? '-' : '';
  return `${sign}${text.slice(0, text.length - digits)}${digits ? `.${text.slice(-digits)}` : ''}`;
}

/** What a model takes in memory, given in units of 2^20 bytes: `577 MB`, `1.6 GB`. */
export const memoryText = (size) => (size < 1000 ? `${rounded(size, 0)} MB` : `${rounded(size / 1024, 1)} GB`);

/** A number of parameters, given in millions: `26 B`, `1.3 B`, `428 M`, `7.1 M`, `3.1 k`, `96`, or a dash. */
export function parametersText(millions) {
  if (millions === null || millions === undefined) return '—';
  for (const [unit, sign] of [[1e3, ' B'], [1, ' M'], [1e-3, ' k']]) {
    if (millions / unit >= 0.9995) return `${rounded(millions / unit, millions / unit >= 9.95 ? 0 : 1)}${sign}`;
  }
  return rounded(millions * 1e6, 0);
}
