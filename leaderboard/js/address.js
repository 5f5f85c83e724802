/** Keys and queries in addresses of the app. Pure. */

/** A key as a part of a query, percent-encoded; `/` and `:` stay readable: `openai/clip-vit-base-patch32`. */
export const encodedKey = (key) => encodeURIComponent(key).replace(/%(2F|3A)/g, decodeURIComponent);

/** An address out of a pattern with {name} where a value goes, percent-encoded; empty for a name without a value. */
export const filledPattern = (pattern, values) => pattern.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? ''));

/** A query string of [key, value] pairs, percent-encoded; `/ , :` stay readable, and a space is `+`. */
export function encodedQuery(pairs) {
  const readable = (text) => encodeURIComponent(text).replace(/%(2C|2F|3A)/g, decodeURIComponent).replace(/%20/g, '+');
  return pairs.map(([key, value]) => `${readable(key)}=${readable(value)}`).join('&');
}
