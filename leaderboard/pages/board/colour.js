/** The shading of score cells: one hue, lightness and chroma linear in OKLab (Ottosson 2020), so equal steps of a score look equally large and stay ordered for every kind of colour vision and in print. */

import { el } from '../../js/dom.js';

export const STEPS = 21;

const MODES = {
  light: { worst: [0.985, 0.006, 238], best: [0.8, 0.092, 236], text: '#14181f' },
  dark: { worst: [0.2, 0.01, 245], best: [0.44, 0.088, 243], text: '#f4f6fa' },
};

/** OKLCH (L 0..1, C, hue in degrees) to sRGB bytes, clipped to the gamut. */
export function oklch(lightness, chroma, hue) {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map((linear) => {
    const clipped = Math.min(1, Math.max(0, linear));
    const encoded = clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * clipped ** (1 / 2.4) - 0.055;
    return Math.round(encoded * 255);
  });
}

/** sRGB bytes to `#rrggbb`. */
export const hex = (rgb) => `#${rgb.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;

/** The scale of one mode (`light` or `dark`), worst to best: STEPS of {background, text}. */
export function scale(mode) {
  const { worst, best, text } = MODES[mode];
  return Array.from({ length: STEPS }, (_, step) => {
    const part = step / (STEPS - 1);
    const mixed = worst.map((from, at) => from + (best[at] - from) * part);
    return { background: hex(oklch(...mixed)), text };
  });
}

/** The step 0 (worst) .. STEPS-1 (best) of a shown value in its column, or -1 where there is nothing to shade. */
export function step(value, { low, high, higher }) {
  if (value === null || !Number.isFinite(value) || !Number.isFinite(low) || !(high > low)) return -1;
  const part = Math.min(1, Math.max(0, (value - low) / (high - low)));
  return Math.round((higher ? part : 1 - part) * (STEPS - 1));
}

/** CSS rules `.lk-shade-0` .. `.lk-shade-20` and the legend's strip, for both modes. */
export function css() {
  const rules = [];
  for (const [mode, prefix] of [['light', '.likeness-board'], ['dark', '.dark .likeness-board']]) {
    const shades = scale(mode);
    shades.forEach(({ background, text }, at) => { rules.push(`${prefix} .lk-shade-${at}{background-color:${background};color:${text}}`); });
    const stops = shades.map(({ background }) => background).join(',');
    rules.push(`${prefix} .lk-strip{background-image:linear-gradient(90deg,${stops})}`);
  }
  return rules.join('\n');
}

/** Adds the rules to the page, once. */
export function shadeStyles() {
  const style = el('style', { id: 'lk-shades' });
  style.textContent = css();
  if (!document.getElementById(style.id)) document.head.append(style);
}
