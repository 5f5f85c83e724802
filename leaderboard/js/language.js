/** Languages in words. Pure. */

const browsers = new Intl.DisplayNames('en', { type: 'language', fallback: 'code' });

/** A language by its ISO 639 code in words: the name in `names`, else the browser's, else the code itself. */
export function languageName(code, names) {
  if (code in names) return names[code];
  try {
    return browsers.of(code);
  } catch {
    return code;
  }
}
