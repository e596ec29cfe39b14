import { OptionError } from '../errors/errors.ts';
import { readPullRequest, readStreamRequest } from '../replication/protocol/http-requests.ts';
import { type Access, type Authorize, accessOf, type OnFilterFailure } from './access.ts';
import { answerFailure, answerJson, RequestFailure, toFailure } from './failures.ts';
import { FirstPulls, takesPackedPages } from './first-pull.ts';
import { fileOf, type HandlerFiles } from './handler-files.ts';
import { ABILITIES, collectionOf, knownName, namedCollection, routeOf, routes } from './routes.ts';
import { requestedScope, type ScopeCriteria } from './scopes.ts';
import type { Store } from './store.ts';
import { type StreamedCollection, streamEvents } from './stream.ts';

/** Options of {@link createHandler}. */
export interface HandlerOptions {
  /** Where the documents are: `postgres(query)`, `memory()`, or your own. */
  readonly store: Store;
  /** Who may do what, asked for each request. */
  readonly authorize: Authorize;
  /**
   * Parts of collections that pages may ask for, by name. They are no rights: `authorize` hides
   * the documents that a user must not see.
   */
  readonly scopes?: Readonly<Record<string, ScopeCriteria>>;
  /** Files beside documents: `documentFiles()` of `cairndb/server/files`. */
  readonly files?: HandlerFiles;
  /** Pages of other origins that may use the handler. Default: none. */
  readonly cors?: CorsOptions;
  /** Most bytes of a body. Default 4 MB. */
  readonly maxBody?: number;
  /**
   * Milliseconds for which a request waits for changes. Default 25,000; proxies often end a request
   * after 30,000.
   */
  readonly hold?: number;
  /**
   * Most bytes of long pages for new devices that are kept in memory, each for five minutes. 0:
   * there are none. Default 64 MB.
   */
  readonly keep?: number;
  /**
   * Gets the errors of the store, of `authorize` and of filters; clients do not see them. Default
   * `console.error`.
   */
  readonly onError?: (error: unknown, request: Request) => void;
}

/** Answers a request; never rejects. */
export type Handler = (request: Request) => Promise<Response>;

const MEGABYTE = 1024 * 1024;

const KEPT = 64 * MEGABYTE;

const KNOWN = [
  'store',
  'authorize',
  'scopes',
  'files',
  'cors',
  'maxBody',
  'hold',
  'keep',
  'onError',
];

/**
 * The server of `http({ url })`: a function from `Request` to `Response` for Node, Deno, Bun,
 * Workers and route handlers of Next. The last segment of `url` is the collection, as in
 * `https://example.com/sync/orders`.
 *
 * @example
 * ```ts
 * const store = postgres((text, values) => pool.query(text, values));
 * const handler = createHandler({
 *   store,
 *   authorize: async (request, collection) => {
 *     const user = await userOf(request);
 *     if (!user) return undefined;
 *     const isOwn = (order) => order.owner === user;
 *     return collection === 'orders' && { read: isOwn, write: isOwn };
 *   },
 * });
 * ```
 * @throws {OptionError}
 */
export function createHandler(options: HandlerOptions): Handler {
  checkOptions(options);
  const { cors, keep = KEPT } = options;
  const firstPulls = keep > 0 ? new FirstPulls(keep) : undefined;
  return async (request) => {
    let response: Response;
    try {
      response = await answer(request, options, firstPulls);
    } catch (error) {
      const failure = toFailure(error);
      if (failure.status === 503 || failure.status === 429) report(options, error, request);
      response = answerFailure(failure);
    }
    const headers = cors ? corsHeaders(request, cors) : {};
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    return response;
  };
}

/** A filter that fails for all documents must not fill the log with them. */
const MOST_REPORTS = 10;

async function answer(
  request: Request,
  options: HandlerOptions,
  firstPulls: FirstPulls | undefined,
): Promise<Response> {
  const { store, scopes = {}, files, cors, maxBody = 4 * MEGABYTE, hold = 25_000 } = options;
  if (request.method === 'OPTIONS' && cors) return preflight(cors, files !== undefined);
  const file = files && fileOf(request.url);
  if (file) {
    const collection = collectionOf(file.collection);
    const { canRead } = await accessTo(request, collection, options);
    return files.answer({
      ...{ request, collection, sha256: file.sha256, documents: store, canRead, readBytes },
      fail: (...failure) => new RequestFailure(...failure),
      report: (error) => report(options, error, request),
    });
  }
  const named = request.method === 'GET' ? namedCollection(request.url) : undefined;
  if (named !== undefined) {
    await accessTo(request, named, options);
    return answerJson(200, JSON.stringify({ ...ABILITIES, ...(files && { files: true }) }));
  }
  const route = routeOf(request.url);
  if (request.method !== 'POST') {
    throw new RequestFailure(405, 'method_not_allowed', 'Use POST.', { allow: 'GET, POST' });
  }
  checkContentType(request);
  const access = await accessTo(request, route.collection, options);
  const body = await readJson(request, maxBody);
  const { signal } = request;
  const { collection } = route;
  const scopeOf = (asked: unknown) =>
    requestedScope(asked, request, scopes, failureReport(request, options));
  if (route.name === 'stream') {
    const streamed: StreamedCollection[] = [];
    for (const from of readStreamRequest(body)) {
      const isNamed = knownName(from.name) === collection;
      const scope = from.scope === undefined ? undefined : () => scopeOf(from.scope);
      await scope?.();
      streamed.push({
        ...{ from, scope },
        access: isNamed ? access : await accessTo(request, from.name, options),
      });
    }
    return streamEvents(store, streamed, signal, (error) => report(options, error, request));
  }
  if (firstPulls && route.name === 'pull' && !access.canRead && takesPackedPages(request)) {
    const { after, scope } = readPullRequest(body);
    const long = scope === undefined && (await firstPulls.answer(store, collection, after));
    if (long) return long;
  }
  return answerJson(
    200,
    await routes[route.name](body, {
      ...{ store, access, collection, signal, hold, files },
      requestedScope: scopeOf,
    }),
  );
}

async function accessTo(
  request: Request,
  collection: string,
  options: HandlerOptions,
): Promise<Access> {
  const authorization = await options.authorize(request, collection);
  return accessOf(authorization, failureReport(request, options));
}

function failureReport(request: Request, options: HandlerOptions): OnFilterFailure {
  let reports = 0;
  return (error) => {
    if (++reports <= MOST_REPORTS) report(options, error, request);
  };
}

/** What logs must not change the answer, even if it fails later. */
function report({ onError = logError }: HandlerOptions, error: unknown, request: Request): void {
  new Promise((resolve) => resolve(onError(error, request))).catch((second: unknown) =>
    logError(second, request),
  );
}

function logError(error: unknown, { url }: Request): void {
  console.error('cairndb/server:', new URL(url).pathname, error);
}

function checkOptions(options: HandlerOptions): void {
  const unknown = Object.keys(options).find((name) => !KNOWN.includes(name));
  if (unknown !== undefined) {
    throw new OptionError('option_unknown', `createHandler() has no option "${unknown}".`, {
      place: unknown,
    });
  }
  const { store, authorize, scopes = {}, cors, maxBody = 1, hold = 1, keep = 0 } = options;
  // Without it every document would be public.
  if (typeof authorize !== 'function') throw missing('authorize', 'a function');
  if (typeof store?.pull !== 'function') throw missing('store', 'a store, such as memory()');
  const other = Object.entries(scopes).find(([, criteria]) => typeof criteria !== 'function');
  if (other) {
    const message = `The scope "${other[0]}" must be a function that returns criteria or false.`;
    throw new OptionError('option_invalid', message, { place: 'scopes' });
  }
  for (const [place, value] of Object.entries({ maxBody, hold })) {
    if (typeof value === 'number' && value > 0 && value < 2 ** 31) continue;
    throw new OptionError('option_invalid', `${place} must be a number above 0.`, { place });
  }
  if (!(typeof keep === 'number' && keep >= 0))
    throw new OptionError('option_invalid', 'keep must be a number from 0 on.', { place: 'keep' });
  if (cors) checkCors(cors);
}

function missing(place: string, what: string): OptionError {
  return new OptionError('option_missing', `createHandler() needs ${place}: ${what}.`, { place });
}

/** Only JSON: a page of another origin cannot send that without a preflight. */
function checkContentType({ headers }: Request): void {
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  const encoding = headers.get('content-encoding');
  if (type === 'application/json' && (encoding === null || encoding === 'identity')) return;
  throw new RequestFailure(
    415,
    'content_type_unsupported',
    'The body must be application/json without a content encoding.',
  );
}

/** Reads JSON of at most `limit` bytes, and no byte beyond. */
async function readJson(request: Request, limit: number): Promise<unknown> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  await readBody(request, limit, (part) => {
    text += decoder.decode(part, { stream: true });
  });
  try {
    text += decoder.decode();
  } catch {
    throw unreadable();
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new RequestFailure(400, 'json_invalid', 'The body is not JSON.');
  }
}

async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  await readBody(request, limit, (part) => parts.push(part));
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** Reads a body of at most `limit` bytes. */
async function readBody(
  request: Request,
  limit: number,
  take: (part: Uint8Array<ArrayBuffer>) => void,
): Promise<void> {
  const tooLarge = (): RequestFailure =>
    new RequestFailure(413, 'body_too_large', `The body has more than ${limit} bytes.`);
  if (Number(request.headers.get('content-length')) > limit) throw tooLarge();
  const reader = (await streamOf(request))?.getReader();
  let bytes = 0;
  try {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      bytes += part.value.byteLength;
      if (bytes > limit) throw tooLarge();
      take(part.value);
    }
  } catch (error) {
    reader?.cancel().catch(() => undefined);
    if (error instanceof RequestFailure) throw error;
    throw unreadable();
  }
}

function unreadable(): RequestFailure {
  return new RequestFailure(400, 'body_unreadable', 'The body ended early or is not UTF-8.');
}

/**
 * Firefox has no `Request.body`: there the handler of a page reads the whole body, which is in
 * memory anyway.
 */
async function streamOf(request: Request): Promise<Request['body']> {
  const { body } = request as { readonly body?: Request['body'] };
  return body === undefined ? (await request.blob()).stream() : body;
}

/** Which pages of other origins may use a handler. */
export interface CorsOptions {
  /** Such as `['https://app.example.com']`; `'*'`: all of them. */
  readonly origins: readonly string[] | '*';
  /** Request headers besides `content-type` and `authorization`. */
  readonly headers?: readonly string[];
  /** Whether cookies are sent; then `origins` is a list. */
  readonly credentials?: boolean;
}

/** @throws {OptionError} */
function checkCors({ origins, credentials }: CorsOptions): void {
  if (origins !== '*' && !Array.isArray(origins)) {
    throw new OptionError('option_invalid', "cors.origins must be a list of origins or '*'.", {
      place: 'cors.origins',
    });
  }
  if (origins === '*' && credentials) {
    throw new OptionError(
      'option_conflict',
      "cors.credentials needs a list of origins: with '*' every page could act as your users.",
      { place: 'cors.credentials' },
    );
  }
}

function corsHeaders(request: Request, cors: CorsOptions): Record<string, string> {
  const origin = request.headers.get('origin');
  const { origins, credentials } = cors;
  const vary = origins === '*' ? {} : { vary: 'Origin' };
  if (origin === null || (origins !== '*' && !origins.includes(origin))) return vary;
  return {
    ...vary,
    'access-control-allow-origin': origins === '*' ? '*' : origin,
    'access-control-expose-headers': 'Retry-After',
    ...(credentials && { 'access-control-allow-credentials': 'true' }),
  };
}

/** The answer to a preflight, besides {@link corsHeaders}. */
function preflight({ headers = [] }: CorsOptions, takesFiles: boolean): Response {
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': `GET, POST${takesFiles ? ', PUT' : ''}`,
      'access-control-allow-headers': ['content-type', 'authorization', ...headers].join(', '),
      'access-control-max-age': '600',
    },
  });
}
