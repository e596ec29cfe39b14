import type { Clock } from '../../async/clock.ts';
import { Malformed } from '../../codec/exact-json/json-checks.ts';
import { ReplicationError } from '../../errors/replication-error.ts';
import { orAborted } from '../../page/sending/call-arguments.ts';
import { readStreamEvent, type StreamEvent } from '../protocol/http-answers.ts';
import type { PulledPage } from '../protocol/remote.ts';
import { answerInvalid } from './answer-errors.ts';
import { type Fetcher, MAX_ANSWER_BYTES } from './fetcher.ts';

/** Collections that begin at once share one request. */
const GATHER_MS = 20;
/** A server answers, and sends the first byte, within so many milliseconds. */
const ANSWER_MS = 30_000;
/** Its first byte comes with the answer, unless a proxy keeps it. */
const FIRST_MS = 10_000;
/** A server shows that it is there every 15 seconds. */
const SILENCE_MS = 40_000;
/** What this page has pulled itself comes by the stream as well, within so many milliseconds. */
const CATCH_UP_MS = 5000;
/** A collection that nobody waits for is left out after so long. */
const UNUSED_MS = 60_000;
/** Pages of changes that wait for a round. */
const MOST_PAGES = 4;

const [RESTART, SILENT, BUFFERED, UNANSWERED] = ['restart', 'silent', 'buffered', 'unanswered'].map(
  (why) => Symbol(why),
);

interface Waiting {
  readonly after: string;
  readonly settle: (isHeard: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** A collection of a stream. */
interface Streamed {
  readonly name: string;
  /** Where the stream has come to: it begins anew from there. */
  after: string;
  pages: Pick<StreamEvent, 'after' | 'page'>[];
  waiting: Waiting | undefined;
  usedAt: number;
}

/** The changes of all collections of a server, by one request that does not end. */
export class EventStream {
  /** Whether it works here: it does not behind a proxy that keeps answers. */
  isUsable = true;
  readonly #base: string;
  readonly #fetcher: Fetcher;
  readonly #clock: Clock;
  /** By the remote that hears: a page may replicate a collection into two databases. */
  readonly #collections = new Map<object, Streamed>();
  #request = new AbortController();
  #isRunning = false;
  #unanswered = 0;

  /** @param base The URL of all collections, without their names. */
  constructor(base: string, fetcher: Fetcher, clock: Clock) {
    this.#base = base;
    this.#fetcher = fetcher;
    this.#clock = clock;
  }

  /**
   * Resolves with `true` when the server has something newer; with `false` where there is no
   * stream.
   *
   * @throws {ReplicationError}; the reason of the signal.
   */
  async wait(remote: object, name: string, after: string, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    if (!this.isUsable) return false;
    const one = this.#join(remote, name, after);
    // Two databases may have one remote: the other one polls.
    if (one.waiting) return false;
    const at = one.pages.findIndex((page) => page.after === after);
    one.pages = at < 0 ? [] : one.pages.slice(at);
    if (at >= 0) return true;
    let cancel: (() => void) | undefined;
    // This page may have pulled what the stream brings next; or has missed what it brought.
    if (one.after !== after)
      cancel = this.#clock.after(CATCH_UP_MS, () => {
        if (one.after !== after) this.#restartAt(one, after);
      });
    const heard = new Promise<boolean>((settle, reject) => {
      one.waiting = { after, settle, reject };
    });
    try {
      return await orAborted(heard, signal);
    } finally {
      cancel?.();
      one.waiting = undefined;
      one.usedAt = this.#clock.elapsed();
    }
  }

  /** The page behind a checkpoint, if the stream has brought it. */
  take(remote: object, after: string): PulledPage<string> | undefined {
    const one = this.#collections.get(remote);
    const at = one?.pages.findIndex((page) => page.after === after) ?? -1;
    if (!one || at < 0) return undefined;
    const page = one.pages[at]?.page as PulledPage<string>;
    one.pages = one.pages.slice(at + 1);
    return { ...page, more: page.more || one.pages.length > 0 };
  }

  #join(remote: object, name: string, after: string): Streamed {
    let one = this.#collections.get(remote);
    if (!one) {
      one = { name, after, pages: [], waiting: undefined, usedAt: 0 };
      this.#collections.set(remote, one);
      this.#request.abort(RESTART);
    }
    one.usedAt = this.#clock.elapsed();
    if (!this.#isRunning) {
      one.after = after;
      void this.#run();
    }
    return one;
  }

  #restartAt(one: Streamed, after: string): void {
    one.after = after;
    one.pages = [];
    this.#request.abort(RESTART);
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      while (this.#collections.size > 0 && this.isUsable) {
        await new Promise<void>((resolve) => this.#clock.after(GATHER_MS, resolve, true));
        this.#request = new AbortController();
        await this.#connect([...this.#collections.values()], this.#request);
      }
      for (const { waiting } of this.#collections.values()) waiting?.settle(false);
    } catch (error) {
      for (const { waiting } of this.#collections.values()) waiting?.reject(error);
    }
    // The next wait begins anew, from where its page has come to.
    this.#collections.clear();
    this.#isRunning = false;
  }

  /** Resolves when the stream has ended, or is of no use. @throws {ReplicationError} */
  async #connect(collections: readonly Streamed[], request: AbortController): Promise<void> {
    const { signal } = request;
    const url = `${this.#base}/${encodeURIComponent(collections[0]?.name ?? '')}/stream`;
    let cancel: (() => void) | undefined;
    const within = (ms: number, why: symbol | undefined) => {
      cancel?.();
      cancel = this.#clock.after(ms, () => request.abort(why), true);
    };
    const body = { collections: collections.map(({ name, after }) => ({ name, after })) };
    within(ANSWER_MS, UNANSWERED);
    try {
      const reading = this.#fetcher.open(
        { url, body, signal, accept: 'text/event-stream' },
        async (response) => {
          within(FIRST_MS, BUFFERED);
          for await (const event of eventsOf(response, url, signal, () => {
            this.#unanswered = 0;
            within(SILENCE_MS, SILENT);
            this.#leaveUnused();
          }))
            this.#deliver(event, collections);
        },
      );
      await orAborted(reading, signal);
    } catch (error) {
      if (error === RESTART || error === SILENT) return;
      const { code } = error as Partial<ReplicationError>;
      if (error === UNANSWERED) this.#unanswered++;
      // Rather a proxy than a network that is gone, where the pull before would have failed.
      this.isUsable =
        error !== BUFFERED &&
        this.#unanswered < 2 &&
        !['remote_refused', 'remote_forbidden', 'answer_invalid'].includes(code ?? '');
      if (!this.isUsable) return;
      if (error !== UNANSWERED) throw error;
      throw new ReplicationError('remote_timeout', `${url} has not answered.`, { place: url });
    } finally {
      cancel?.();
    }
  }

  #deliver({ at, after, page }: StreamEvent, collections: readonly Streamed[]): void {
    const one = collections[at];
    if (!one) return;
    const { waiting } = one;
    one.after = page.checkpoint;
    // This page has pulled it already.
    if (waiting?.after === page.checkpoint) return;
    if (one.pages.length < MOST_PAGES) one.pages.push({ after, page });
    else one.pages = []; // the next round pulls them
    // Another place: what this page has pulled itself came in between.
    if (waiting?.after === after) waiting.settle(true);
    else if (waiting) this.#restartAt(one, waiting.after);
  }

  #leaveUnused(): void {
    const before = this.#clock.elapsed() - UNUSED_MS;
    for (const [remote, { waiting, usedAt }] of this.#collections)
      if (!waiting && usedAt < before) this.#collections.delete(remote);
    if (this.#collections.size === 0) this.#request.abort(RESTART);
  }
}

/** The events of an answer. @throws {ReplicationError} for anything but a stream of them. */
async function* eventsOf(
  { headers, status, body }: Response,
  url: string,
  signal: AbortSignal,
  onBytes: () => void,
): AsyncGenerator<StreamEvent, void, undefined> {
  const reader = body?.getReader();
  const cancel = () => void reader?.cancel().catch(() => undefined);
  try {
    if (!/^text\/event-stream\b/.test(headers.get('content-type') ?? ''))
      throw answerInvalid(url, `it has status ${status} and is no stream of events`);
    signal.addEventListener('abort', cancel);
    const decoder = new TextDecoder();
    let rest = '';
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      onBytes();
      const [first = '', ...lines] = decoder.decode(part.value, { stream: true }).split('\n');
      rest += first;
      for (const line of lines) {
        if (rest.startsWith('data:')) yield readEvent(rest.slice(5), url);
        rest = line;
      }
      if (rest.length > MAX_ANSWER_BYTES)
        throw answerInvalid(url, `it has a line of over ${MAX_ANSWER_BYTES} characters`);
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}

function readEvent(data: string, url: string): StreamEvent {
  try {
    return readStreamEvent(JSON.parse(data));
  } catch (cause) {
    const why = cause instanceof Malformed ? cause.message : 'an event is no JSON';
    throw answerInvalid(url, why, cause);
  }
}

/** By what must be the same: a function of headers may give other credentials than another one. */
const shared = new WeakMap<object, { readonly key: unknown[]; readonly stream: EventStream }[]>();

/** The stream of a server, shared where URL, `headers` and `fetch` are the same. */
export function streamAt(
  base: string,
  headers: object,
  fetch: unknown,
  fetcher: Fetcher,
  clock: Clock,
): EventStream {
  const known = shared.get(headers) ?? [];
  shared.set(headers, known);
  const key = [base, fetch, clock];
  const found = known.find((one) => one.key.every((part, at) => part === key[at]));
  if (found) return found.stream;
  const stream = new EventStream(base, fetcher, clock);
  known.push({ key, stream });
  return stream;
}
