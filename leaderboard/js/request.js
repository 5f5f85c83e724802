/** Requests to the app's own server. */

import { withData } from './address.js';

/** A failed request; `message` is a sentence for the visitor, `status` is 0 where no answer came. */
export class RequestError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** The address, of the version of the data that the page shows. */
export const ofState = (url) => withData(String(url), new URLSearchParams(location.search).get('data'));

/** The JSON at `url`, of the version of the data that the page shows; `options` are those of `fetch`, `patience` (ms) ends a request without an answer. Throws RequestError, or the browser's own error where `signal` aborted the request. */
export async function getJson(url, { signal, patience, ...options } = {}) {
  const signals = [signal, patience && AbortSignal.timeout(patience)].filter(Boolean);
  let response;
  try {
    response = await fetch(ofState(url), { ...options, signal: signals.length ? AbortSignal.any(signals) : undefined });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new RequestError('The server did not answer.', 0);
  }
  let data = null;
  try {
    data = await response.json();
  } catch (error) {
    if (signal?.aborted) throw error;
  }
  if (!response.ok) throw new RequestError(String(data?.error ?? `The server answered ${response.status}. Try again.`), response.status);
  if (data === null) throw new RequestError('The answer could not be read.', response.status);
  return data;
}
