import { type Check, number } from '../../api/options/option-checks.ts';
import { OptionError } from '../../errors/errors.ts';
import { TargetError, type TargetErrorCode } from '../calls/target-calls.ts';

/** The part of `fetch` that targets use. */
type TargetFetch = (url: string, init: RequestInit) => Promise<Response>;

/** Options of every target that is reached by HTTP. */
export interface HttpTargetOptions {
  /** Makes the requests: to send cookies to another origin, say. @default globalThis.fetch */
  readonly fetch?: TargetFetch | undefined;
  /** Seconds after which a request is given up. @default 60 */
  readonly timeout?: number | undefined;
}

/** Checks for `checkOptions`. */
export const httpChecks = {
  url: {
    allowed: 'an http or https URL without credentials, query or fragment',
    test: (value) => typeof value === 'string' && value.length > 0,
    required: true,
  },
  fetch: { allowed: 'a function like fetch', test: (value) => typeof value === 'function' },
  timeout: number('seconds, 1 to 3600', (value) => value >= 1 && value <= 3600, 60),
} satisfies Readonly<Record<string, Check>>;

/**
 * A URL that ends in a slash. A relative one belongs to the page.
 *
 * @throws {OptionError}
 */
export function folderUrl(given: string): URL {
  const invalid = (why: string) =>
    new OptionError('option_invalid', `"url" must be ${httpChecks.url.allowed}; ${why}.`, {
      place: 'url',
    });
  let url: URL;
  try {
    url = new URL(given, (globalThis as { location?: { href?: string } }).location?.href);
  } catch {
    throw invalid('this one cannot be parsed');
  }
  if (!/^https?:$/.test(url.protocol)) throw invalid(`this one begins with ${url.protocol}`);
  // fetch() refuses them, and URLs appear in errors and logs.
  if (url.username !== '' || url.password !== '') throw invalid('this one has credentials');
  if (url.search !== '' || url.hash !== '') throw invalid('this one has a query or a fragment');
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/`;
  return url;
}

/** A response whose body has arrived. */
export interface Answer {
  readonly status: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly text: string;
}

/** Most characters of an answer that are read to explain a failure. */
const MOST_TEXT = 2000;

/**
 * Makes one request. @throws {TargetError} `target_unreachable`, and for a redirect
 * `target_refused`.
 */
export async function sendHttp(
  { fetch, timeout = 60 }: HttpTargetOptions,
  url: string,
  init: RequestInit,
): Promise<Answer> {
  const make = fetch ?? ((at, given) => globalThis.fetch(at, given));
  // Browsers do not say where a redirect leads; followed, it would get the credentials.
  const fixed = { redirect: 'manual', cache: 'no-store' } as const;
  try {
    const signal = AbortSignal.timeout(timeout * 1000);
    const response = await make(url, { ...init, ...fixed, signal });
    const { status, type } = response;
    if (type === 'opaqueredirect' || (status >= 300 && status < 400))
      throw new TargetError(
        'target_refused',
        `${url} redirects elsewhere: give the URL that it leads to.`,
        { place: url },
      );
    const bytes = new Uint8Array(await response.arrayBuffer());
    return {
      status,
      bytes,
      get text() {
        return new TextDecoder().decode(bytes);
      },
    };
  } catch (cause) {
    if (cause instanceof TargetError) throw cause;
    const why = (cause as Partial<Error>).message ?? String(cause);
    const message = `${url} cannot be reached (${why}). Check the network, and that the server allows this origin (CORS).`;
    throw new TargetError('target_unreachable', message, { place: url, cause });
  }
}

const REMEDIES: Readonly<Partial<Record<TargetErrorCode, string>>> = {
  target_denied: 'Check the credentials and what they allow.',
  target_full: 'Make room, or let backups expire earlier.',
  target_unreachable: 'The server fails for now.',
  target_refused: 'Check the URL.',
};

export function refusal({ status, text }: Answer, url: string): TargetError {
  const said = text.slice(0, MOST_TEXT);
  const code = codeOf(status, said);
  const reason = /<(?:\w+:)?(?:Code|message)>([^<]+)</i.exec(said)?.[1];
  const message = `${url} answered with status ${status}${reason ? `, ${reason}` : ''}. ${REMEDIES[code]}`;
  return new TargetError(code, message, { place: url });
}

/** A sign-in page of a network, say, that answers in place of the server. */
export function noList(url: string): TargetError {
  const message = `${url} answered with something else than a list of files. Check the network and the URL.`;
  return new TargetError('target_unreachable', message, { place: url });
}

function codeOf(status: number, said: string): TargetErrorCode {
  if (status === 401) return 'target_denied';
  if (status === 507 || /Quota|StorageFull|InsufficientStorage/i.test(said)) return 'target_full';
  if (status === 403) return 'target_denied';
  if (status === 408 || status === 425 || status === 429 || status >= 500)
    return 'target_unreachable';
  return 'target_refused';
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

/** The text of all elements of a name; workers and Node have no XML parser. */
export function elementsOf(xml: string, name: string): string[] {
  const element = new RegExp(
    `<(?:[\\w-]+:)?${name}(?:\\s[^>]*)?>([^]*?)</(?:[\\w-]+:)?${name}>`,
    'g',
  );
  return Array.from(xml.matchAll(element), ([, text = '']) => text);
}

/** The text of an element without elements in it. */
export function textOf(content: string): string {
  return content.replaceAll(/&(#x[\da-f]+|#\d+|\w+);/gi, (whole, entity: string) => {
    if (entity[0] !== '#') return ENTITIES[entity] ?? whole;
    const code = /^#x/i.test(entity)
      ? Number.parseInt(entity.slice(2), 16)
      : Number(entity.slice(1));
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
