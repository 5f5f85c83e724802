/** Languages in words. Pure. */

const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'code' });

/** A language by its ISO 639 code in words; the code itself where the browser knows no name. */
export function languageName(code) {
  try {
    return names.of(code);
  } catch {
    return code;
  }
}
