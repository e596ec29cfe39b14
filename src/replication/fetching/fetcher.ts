import { type Clock, systemClock } from '../../async/clock.ts';
import { CairnError, Malformed } from '../../errors/errors.ts';
import { ReplicationError } from '../../errors/replication-error.ts';
import { holdConnection } from '../../platform/held-connections.ts';
import type { Locks } from '../../platform/platform.ts';
import { freeBytes } from '../protocol/files.ts';
import { answerInvalid, OversizedAnswer, type Refusal, refused } from './answer-errors.ts';
import { areHeaders, type RemoteFetch, type RemoteHeaders } from './remote-options.ts';

export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Most bytes that are read of an answer that only explains a failure. */
const MAX_REFUSAL_BYTES = 64 * 1024;

const JSON_TYPE = /^application\/([\w.-]+\+)?json\s*(;|$)/i;

export interface FetcherSettings {
  readonly headers: RemoteHeaders;
  /** Left out: that of the platform, at the time of the call. */
  readonly fetch: RemoteFetch | undefined;
  /** Reads the reason from the body of a failed request, which may be anything. */
  readonly readRefusal: (body: unknown) => Refusal | undefined;
  readonly clock?: Clock;
  /** Left out: those of the page. */
  readonly locks?: Locks | undefined;
}

export interface FetchRequest {
  readonly url: string;
  readonly signal: AbortSignal;
  /** Left out: GET. Bytes, and a Blob with its type: PUT. */
  readonly body?: unknown;
  /** Such as `bytes=0-99`. */
  readonly range?: string | undefined;
  /** Left out: JSON. */
  readonly accept?: string;
}

/** What requests report to the call that waits for them. */
export interface RequestProgress {
  /** Called before so many bytes are sent: nothing says how far they have come. */
  readonly sending?: (bytes: number) => void;
  /** Called with the bytes of an answer as they come; with 0 when it begins. */
  readonly received: (bytes: number) => void;
}

/** By the signals of requests, which lead through all remotes. */
const followed = new WeakMap<AbortSignal, RequestProgress>();

/** Has the requests with a signal report to a deadline: slow networks have more time then. */
export function followRequests(signal: AbortSignal, progress: RequestProgress): void {
  followed.set(signal, progress);
}

/** What the requests with a signal report to. */
export function progressOf(signal: AbortSignal): RequestProgress | undefined {
  return followed.get(signal);
}

/** Makes requests for JSON, and turns all that can go wrong into a {@link ReplicationError}. */
export class Fetcher {
  readonly #settings: FetcherSettings;
  /** Whether a function of the app answers by itself, as in demos: that takes no connection. */
  #isLocal = false;

  constructor(settings: FetcherSettings) {
    this.#settings = settings;
  }

  /**
   * @param read Reads the parsed body, and throws {@link Malformed} if it is something else.
   * @throws {ReplicationError}; the reason of the signal.
   */
  fetch<T>(request: FetchRequest, read: (body: unknown) => T): Promise<T> {
    return this.open(request, async (response) => read(await readJson(response, request)));
  }

  /**
   * Bytes, at most so many.
   *
   * @throws as {@link fetch}.
   */
  fetchBytes(request: FetchRequest, limit: number): Promise<Uint8Array<ArrayBuffer>> {
    return this.open(request, (response) => readBytes(response, request, limit, freeBytes));
  }

  /** The same, of an answer that `take` reads itself. */
  async open<T>(request: FetchRequest, take: (response: Response) => Promise<T>): Promise<T> {
    const { url, signal } = request;
    try {
      return await take(await this.#respond(request));
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      if (cause instanceof CairnError) throw cause;
      if (cause instanceof Malformed) throw answerInvalid(url, cause.message, cause);
      // fetch() and the stream of a body reject with a TypeError where the connection is lost.
      throw new ReplicationError('remote_offline', `${url} cannot be reached.`, {
        ...{ place: url, cause },
      });
    }
  }

  /**
   * Runs a request that waits for changes, and so keeps a connection. @returns whether it ran: not
   * where other requests keep too many.
   */
  async hold(url: string, run: () => Promise<unknown>): Promise<boolean> {
    if (!this.#isLocal) return holdConnection(url, run, this.#settings.locks);
    await run();
    return true;
  }

  async #respond(request: FetchRequest): Promise<Response> {
    const { headers, readRefusal, clock = systemClock } = this.#settings;
    let response = await this.#send(request);
    if (response.status === 401 && typeof headers === 'function') {
      // The token may have expired since it was given.
      discard(response);
      response = await this.#send(request);
    }
    const { status, type } = response;
    if (status < 400 && type !== 'opaqueredirect' && !(status >= 300)) return response;
    if (status >= 400) {
      const refusal = readRefusal(await readLeniently(response, request));
      throw refused(response, request.url, refusal, clock.now());
    }
    discard(response);
    // Browsers do not say where an answer leads. Followed, it would get the credentials.
    const location = response.headers.get('location');
    const target = location ? ` to ${location.slice(0, 200)}` : '';
    throw answerInvalid(request.url, `it redirects${target}, which is not followed`);
  }

  async #send({ url, signal, body, accept, range }: FetchRequest): Promise<Response> {
    const headers = await this.#headers();
    signal.throwIfAborted();
    const make = this.#settings.fetch ?? ((at, init) => globalThis.fetch(at, init));
    const hasBody = body !== undefined;
    const isBlob = body instanceof Blob;
    const isBytes = isBlob || body instanceof Uint8Array;
    const type = isBlob ? body.type : `application/${isBytes ? 'octet-stream' : 'json'}`;
    const sent = isBytes ? (body as Blob | Uint8Array<ArrayBuffer>) : JSON.stringify(body);
    const progress = progressOf(signal);
    if (hasBody) progress?.sending?.(sent instanceof Blob ? sent.size : sent.length);
    const response = await make(url, {
      method: isBytes ? 'PUT' : hasBody ? 'POST' : 'GET',
      headers: {
        accept: accept ?? 'application/json',
        ...(hasBody && { 'content-type': type }),
        ...(range !== undefined && { range }),
        ...headers,
      },
      ...(hasBody && { body: sent }),
      redirect: 'manual',
      cache: 'no-store',
      signal,
    });
    // What a function has made has no URL.
    this.#isLocal = response.url === '';
    progress?.received(0);
    return response;
  }

  async #headers(): Promise<Readonly<Record<string, string>>> {
    const { headers } = this.#settings;
    if (typeof headers !== 'function') return headers;
    let given: unknown;
    try {
      given = await headers();
    } catch (cause) {
      if (cause instanceof CairnError) throw cause;
      const why = cause instanceof Error ? cause.message : String(cause);
      // It asks a server for a token, as a rule, and that cannot be reached.
      throw new ReplicationError('remote_offline', `headers() failed: ${why}`, {
        place: 'headers',
        cause,
      });
    }
    if (areHeaders(given)) return given;
    throw new ReplicationError(
      'remote_unauthorized',
      'headers() must return an object of strings; call resume() when it does.',
      { place: 'headers' },
    );
  }
}

/** @throws {ReplicationError} `answer_invalid` */
export async function readJson(response: Response, request: FetchRequest): Promise<unknown> {
  const { url } = request;
  const type = response.headers.get('content-type') ?? '';
  if (!JSON_TYPE.test(type)) {
    discard(response);
    const given = type === '' ? 'no content type' : `the content type ${type.slice(0, 100)}`;
    throw answerInvalid(url, `it has status ${response.status} and ${given}, not JSON`);
  }
  const text = await readText(response, request);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw answerInvalid(url, `it is no JSON, but begins with "${text.trim().slice(0, 60)}"`, cause);
  }
}

/**
 * The parsed body of a failed request; `undefined` if it is something else, such as HTML of a
 * proxy.
 */
async function readLeniently(response: Response, request: FetchRequest): Promise<unknown> {
  try {
    return JSON.parse(await readText(response, request, MAX_REFUSAL_BYTES));
  } catch {
    return undefined;
  }
}

async function readText(
  response: Response,
  request: FetchRequest,
  limit?: number,
): Promise<string> {
  return new TextDecoder().decode(await readBytes(response, request, limit));
}

/**
 * @param free Called with each part once it is copied.
 * @throws {OversizedAnswer} The rest is not read.
 */
export async function readBytes(
  { body }: Response,
  { url, signal }: FetchRequest,
  limit = MAX_ANSWER_BYTES,
  free?: (part: Uint8Array) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = body?.getReader();
  for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
    length += part.value.length;
    if (length > limit) {
      reader?.cancel().catch(() => undefined);
      throw new OversizedAnswer(url, limit);
    }
    progressOf(signal)?.received(part.value.length);
    parts.push(part.value);
  }
  // Not longer: who gets a view gets a copy of all that is behind it.
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
    free?.(part);
  }
  return bytes;
}

/** Frees the connection of an answer that nobody reads. */
function discard({ body }: Response): void {
  body?.cancel().catch(() => undefined);
}
