/** Keys, queries and the theme in addresses of the app. Pure. */

/** A key as a part of a query, percent-encoded; `/` and `:` stay readable: `openai/clip-vit-base-patch32`. */
export const encodedKey = (key) => encodeURIComponent(key).replace(/%(2F|3A)/g, decodeURIComponent);

/** An address out of a pattern with {name} where a value goes, percent-encoded; empty for a name without a value. */
export const filledPattern = (pattern, values) => pattern.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? ''));

/** A query string of [key, value] pairs, percent-encoded; `/ , :` stay readable, and a space is `+`. */
export function encodedQuery(pairs) {
  const readable = (text) => encodeURIComponent(text).replace(/%(2C|2F|3A)/g, decodeURIComponent).replace(/%20/g, '+');
  return pairs.map(([key, value]) => `${readable(key)}=${readable(value)}`).join('&');
}

/** The query string `search` with these values; an empty one is left out, and other parameters stay. */
export function withValues(search, values) {
  const query = new URLSearchParams(search);
  for (const [key, value] of Object.entries(values)) {
    query.delete(key);
    if (value) query.append(key, value);
  }
  return encodedQuery([...query]);
}

const THEME = /([?&])__theme=[^&#]*(&|(?=#|$))/;
const DATA = /[?&]data=/;

/** Whether an absolute address is on another site than the page at `page`. */
export const isElsewhere = (address, page) => /^https?:/.test(address) && new URL(address).origin !== new URL(page).origin;

/** An address without the theme that it asks for. */
export const withoutTheme = (address) => address.replace(THEME, (_, before, after) => (after ? before : ''));

/** An address with one more parameter. */
export function withParameter(address, name, value) {
  const [path, ...anchor] = address.split('#');
  return [`${path}${path.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`, ...anchor].join('#');
}

/** An address with the version of the data; one that names a version itself, or today's by an empty one, stays. */
export const withData = (address, version) => (version && !DATA.test(address) ? withParameter(address, 'data', version) : address);

/** An address that does not ask for today's version of the data. */
export const withoutToday = (address) => address.replace(/([?&])data=(&|(?=#|$))/, (_, before, after) => (after ? before : ''));

/** An absolute address of the app with the theme and the version of the data that the address `page` asks for, if it does. */
export function carried(address, page) {
  if (!/^https?:/.test(address) || isElsewhere(address, page)) return address;
  const query = new URL(page).searchParams;
  const theme = query.get('__theme');
  const of = withData(address, query.get('data'));
  if (!theme) return of;
  if (!THEME.test(of)) return withParameter(of, '__theme', theme);
  return of.replace(THEME, (_, before, after) => `${before}__theme=${encodeURIComponent(theme)}${after}`);
}
