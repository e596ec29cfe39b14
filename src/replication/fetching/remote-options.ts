import type { Check } from '../../api/options/option-checks.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { OptionError } from '../../errors/errors.ts';

/** Headers of requests: fixed ones, or a function that is asked before each request. */
export type RemoteHeaders =
  | Readonly<Record<string, string>>
  | (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>);

/** The part of `fetch` that remotes use. */
export type RemoteFetch = (url: string, init: RequestInit) => Promise<Response>;

/** Options of every remote that is reached by HTTP. */
export interface FetchingOptions {
  /** Where the server is. It has neither credentials nor a query: those belong into `headers`. */
  readonly url: string;
  /**
   * Headers of each request, such as `authorization`. A function is asked before each request, and
   * once more when the server answers 401.
   */
  readonly headers?: RemoteHeaders | undefined;
  /**
   * Makes the requests. Give one of your own to send cookies to another origin, or to call a
   * handler directly in tests.
   *
   * @default globalThis.fetch
   */
  readonly fetch?: RemoteFetch | undefined;
}

/** Checks for `checkOptions`. */
export const fetchingChecks = {
  url: {
    allowed: 'an http or https URL without credentials, query or fragment',
    test: (value) => typeof value === 'string' && value.length > 0,
    required: true,
  },
  headers: {
    allowed: 'an object of strings, or a function that returns one',
    test: (value) => typeof value === 'function' || areHeaders(value),
    fallback: {},
  },
  fetch: { allowed: 'a function like fetch', test: (value) => typeof value === 'function' },
} satisfies Readonly<Record<string, Check>>;

export function areHeaders(value: unknown): value is Readonly<Record<string, string>> {
  return isPlainObject(value) && Object.values(value).every((item) => typeof item === 'string');
}

/**
 * The URL without a slash at its end. A relative one belongs to the page.
 *
 * @throws {OptionError}
 */
export function parseUrl(given: string): string {
  const { allowed } = fetchingChecks.url;
  const invalid = (why: string) =>
    new OptionError('option_invalid', `"url" must be ${allowed}; ${why}.`, { place: 'url' });
  let url: URL;
  try {
    url = new URL(given, (globalThis as { location?: { href?: string } }).location?.href);
  } catch {
    throw invalid('this one cannot be parsed');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw invalid(`this one begins with ${url.protocol}`);
  // fetch() refuses them, and URLs appear in errors and logs.
  if (url.username !== '' || url.password !== '')
    throw invalid('give the credentials as headers: { authorization: … }');
  if (url.search !== '' || url.hash !== '') throw invalid('this one has a query or a fragment');
  return url.href.replace(/\/+$/, '');
}
