import type { Clock } from '../../async/clock.ts';
import { retryDelay } from '../../async/retries.ts';
import { Malformed } from '../../errors/errors.ts';
import { ReplicationError } from '../../errors/replication-error.ts';
import { orAborted } from '../../page/sending/call-arguments.ts';
import { readStreamEvent, type StreamEvent } from '../protocol/http-answers.ts';
import { MOST_STREAMED } from '../protocol/http-requests.ts';
import type { PulledPage, ReplicationScope } from '../protocol/remote.ts';
import { answerInvalid } from './answer-errors.ts';
import { type Fetcher, MAX_ANSWER_BYTES } from './fetcher.ts';
import type { RemoteHeaders } from './remote-options.ts';

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
/** The same where an event leads past the place of this page, or not as far: a pull tells. */
const ASIDE_MS = 50;
/** A server whose database is gone ends a stream sooner, as soon as it begins. */
const SHORTEST_MS = 5000;
/** A collection that nobody waits for is left out after so long. */
const UNUSED_MS = 15_000;
/** Where others change documents outside a scope, its page keeps the new place so often. */
const KEEP_MS = 60_000;
/** Pages of changes that wait for a round. */
const MOST_PAGES = 4;

const [RESTART, SILENT, BUFFERED, UNANSWERED] = ['restart', 'silent', 'buffered', 'unanswered'].map(
  (why) => Symbol(why),
);

interface Waiting {
  readonly after: string;
  readonly settle: (isHeard: boolean | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** What a page waits for. */
export interface StreamPlace {
  /** Who hears: a page may replicate a collection into two databases. */
  readonly heard: object;
  /** Left out: the whole collection. */
  readonly scope?: ReplicationScope;
  readonly after: string;
}

/** A collection of a stream, or a scope of it. */
interface Streamed {
  readonly name: string;
  readonly scope?: ReplicationScope | undefined;
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
  readonly key: readonly unknown[];
  readonly #base: string;
  readonly #fetcher: Fetcher;
  readonly #clock: Clock;
  /** By who hears. */
  readonly #collections = new Map<object, Streamed>();
  #request = new AbortController();
  #isRunning = false;
  #cancelLeaving: (() => void) | undefined;
  #unanswered = 0;

  /**
   * @param base The URL of all collections, without their names.
   * @param key What must be the same for those who share it.
   */
  constructor(base: string, fetcher: Fetcher, clock: Clock, key: readonly unknown[]) {
    this.key = key;
    this.#base = base;
    this.#fetcher = fetcher;
    this.#clock = clock;
  }

  /**
   * Resolves with `true` when the server has something newer at one of the places; with `false`
   * where there is no stream, and with `undefined` where no connection is free for it.
   *
   * @throws {ReplicationError}; the reason of the signal.
   */
  async wait(
    places: readonly StreamPlace[],
    name: string,
    signal: AbortSignal,
  ): Promise<boolean | undefined> {
    signal.throwIfAborted();
    const names = new Set([...this.#collections.keys(), ...places.map(({ heard }) => heard)]);
    if (!this.isUsable || names.size > MOST_STREAMED) return false;
    const all = places.map((place) => ({ one: this.#join(place, name), after: place.after }));
    // Two databases may have one remote: the other one polls.
    if (all.some(({ one }) => one.waiting)) return false;
    for (const { one, after } of all) {
      const at = one.pages.findIndex((page) => page.after === after);
      one.pages = at < 0 ? [] : one.pages.slice(at);
    }
    if (all.some(({ one }) => one.pages.some(({ page }) => !isEmpty(page)))) return true;
    const cancels = all.map(({ one, after }) =>
      // This page may have pulled what the stream brings next; or has missed what it brought.
      one.after === after || one.pages.length > 0
        ? undefined
        : this.#clock.after(CATCH_UP_MS, () => {
            if (one.after !== after && one.pages.length === 0) this.#restartAt(one, after);
          }),
    );
    const heard = new Promise<boolean | undefined>((settle, reject) => {
      for (const { one, after } of all) one.waiting = { after, settle, reject };
    });
    try {
      return await orAborted(heard, signal);
    } finally {
      for (const cancel of cancels) cancel?.();
      for (const { one } of all) {
        one.waiting = undefined;
        one.usedAt = this.#clock.elapsed();
      }
      const { code } = (signal.reason ?? {}) as Partial<ReplicationError>;
      // Others wait again once their round is over.
      if (code === 'replication_stopped')
        for (const { heard } of places) this.#collections.delete(heard);
      this.#leaveUnused();
    }
  }

  /** The page behind a checkpoint, if the stream has brought it. */
  take(heard: object, after: string): PulledPage<string> | undefined {
    const one = this.#collections.get(heard);
    const at = one?.pages.findIndex((page) => page.after === after) ?? -1;
    if (!one || at < 0) return undefined;
    const page = one.pages[at]?.page as PulledPage<string>;
    one.pages = one.pages.slice(at + 1);
    return { ...page, more: page.more || one.pages.length > 0 };
  }

  #join({ heard, scope, after }: StreamPlace, name: string): Streamed {
    let one = this.#collections.get(heard);
    if (!one) {
      one = { name, scope, after, pages: [], waiting: undefined, usedAt: 0 };
      this.#collections.set(heard, one);
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
    let failures = 0;
    let isHeld = true;
    try {
      while (this.#collections.size > 0 && this.isUsable && isHeld) {
        const pause = failures > 1 ? retryDelay(failures - 1, Math.random) : 0;
        await new Promise<void>((resolve) => this.#clock.after(GATHER_MS + pause, resolve, true));
        const began = this.#clock.elapsed();
        isHeld = await this.#fetcher.hold(this.#base, () => {
          this.#request = new AbortController();
          return this.#connect([...this.#collections.values()], this.#request);
        });
        const isShort = this.#clock.elapsed() - began < SHORTEST_MS;
        failures = isShort && !this.#request.signal.aborted ? failures + 1 : 0;
        // A pull finds out whether the server fails, and what came meanwhile.
        if (failures > 1 && this.isUsable)
          for (const { waiting } of this.#collections.values()) waiting?.settle(true);
      }
      const none = this.isUsable ? undefined : false;
      for (const { waiting } of this.#collections.values()) waiting?.settle(none);
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
    const body = {
      collections: collections.map(({ name, after, scope }) => ({ name, after, scope })),
    };
    within(ANSWER_MS, UNANSWERED);
    // In the back/forward cache it would keep a connection. The page begins it anew.
    const leave = () => request.abort(RESTART);
    globalThis.addEventListener?.('pagehide', leave);
    try {
      const reading = this.#fetcher.open(
        { url, body, signal, accept: 'text/event-stream' },
        async (response) => {
          within(FIRST_MS, BUFFERED);
          for await (const event of eventsOf(response, url, signal, () => {
            this.#unanswered = 0;
            within(SILENCE_MS, SILENT);
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
      globalThis.removeEventListener?.('pagehide', leave);
    }
  }

  #deliver({ at, after, page }: StreamEvent, collections: readonly Streamed[]): void {
    const one = collections[at];
    if (!one) return;
    const { waiting, usedAt } = one;
    one.after = page.checkpoint;
    // This page has pulled it already.
    if (waiting?.after === page.checkpoint) return;
    const last = one.pages.at(-1);
    // Others have changed what is outside the scope: nobody need hear of that alone.
    const isJoined = last && isEmpty(last.page) && last.page.checkpoint === after;
    const from = isJoined ? last.after : after;
    if (isJoined) one.pages.pop();
    if (one.pages.length < MOST_PAGES) one.pages.push({ after: from, page });
    else one.pages = []; // the next round pulls them
    if (!waiting) return;
    if (waiting.after !== from) {
      // Another place: what this page has pulled itself came in between. A pull costs the server
      // less than a stream that begins anew.
      one.pages = [];
      this.#clock.after(ASIDE_MS, () => {
        if (one.waiting === waiting && one.after !== waiting.after) waiting.settle(true);
      });
    } else if (!isEmpty(page) || this.#clock.elapsed() - usedAt > KEEP_MS) waiting.settle(true);
  }

  /** A stream that nobody reads would keep a connection, a process of Node, and a user's rights. */
  #leaveUnused(): void {
    this.#cancelLeaving?.();
    if (this.#collections.size === 0) this.#request.abort(RESTART);
    else this.#cancelLeaving = this.#clock.after(UNUSED_MS, () => this.#forgetUnused(), true);
  }

  #forgetUnused(): void {
    const before = this.#clock.elapsed() - UNUSED_MS;
    for (const [heard, { waiting, usedAt }] of this.#collections)
      if (!waiting && usedAt <= before) this.#collections.delete(heard);
    if (this.#collections.size === 0) this.#request.abort(RESTART);
  }
}

/** Whether it brings nothing but a newer place. */
function isEmpty({ changes, rejected = [], reset }: PulledPage<string>): boolean {
  return changes.length + rejected.length === 0 && !reset;
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

/** A page that forgets a server and its streams need not keep them. */
let shared: WeakRef<EventStream>[] = [];

/**
 * The stream of a server, shared where URL, headers and `fetch` are the same. Another function of
 * headers may give other credentials.
 */
export function streamAt(
  base: string,
  headers: RemoteHeaders,
  fetch: unknown,
  fetcher: Fetcher,
  clock: Clock,
): EventStream {
  const sent =
    typeof headers === 'function' ? headers : JSON.stringify(Object.entries(headers).sort());
  const key = [base, sent, fetch, clock];
  const streams = shared.flatMap((one) => one.deref() ?? []);
  const isSame = (one: EventStream) => one.key.every((part, at) => part === key[at]);
  const known = streams.find(isSame);
  if (known) return known;
  const stream = new EventStream(base, fetcher, clock, key);
  shared = [...streams, stream].map((one) => new WeakRef(one));
  return stream;
}
