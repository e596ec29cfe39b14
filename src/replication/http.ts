import { checkOptions } from '../api/options/option-checks.ts';
import { type Clock, systemClock } from '../async/clock.ts';
import type { ReplicationError } from '../errors/replication-error.ts';
import { blameless, OversizedAnswer, RefusedError } from './fetching/answer-errors.ts';
import type { EventStream, StreamPlace } from './fetching/event-stream.ts';
import { Fetcher, type FetcherSettings } from './fetching/fetcher.ts';
import { longPoll } from './fetching/long-poll.ts';
import type { PackedPull } from './fetching/packed-pull.ts';
import { batchesOf, callByHalves, encodeRows, type SendableRow } from './fetching/push-batches.ts';
import { type FetchingOptions, fetchingChecks, parseUrl } from './fetching/remote-options.ts';
import { pauseFor } from './fetching/slowdown.ts';
import { type EncryptOptions, encryptCheck, sealed } from './late-sealing.ts';
import {
  type AbilitiesAnswer,
  readAbilitiesAnswer,
  readErrorAnswer,
  readFileAnswer,
  readPullAnswer,
  readPushAnswer,
  readWatchAnswer,
} from './protocol/http-answers.ts';
import { PART_BYTES } from './protocol/http-fields.ts';
import { toWireRow, type WireRow } from './protocol/http-requests.ts';
import {
  type LocalChange,
  type PackedPage,
  type PulledPage,
  type PushResult,
  packedPulls,
  type Remote,
  type RemoteFiles,
  type ReplicationScope,
} from './protocol/remote.ts';

/** Twice as long as a server holds a request: a silent one is lost. */
const SILENCE_MS = 50_000;

/** A question whose answer can be done without is given up after so long. */
const ANSWER_MS = 15_000;

/** Codes of a server that knows nothing of its abilities. */
const FINAL: ReadonlySet<string> = new Set([
  'remote_refused',
  'remote_forbidden',
  'answer_invalid',
]);

type Ask = { readonly signal: AbortSignal };
type PullAsk = Parameters<Remote<string>['pull']>[1];
type HeardPlace = Pick<StreamPlace, 'scope' | 'after'>;
type WatchAsk = Parameters<NonNullable<Remote<string>['watch']>>[1];

/** See `http()`. */
export class HttpRemote implements Remote<string> {
  readonly id: string;
  readonly scopes = true;
  readonly #url: string;
  readonly #fetcher: Fetcher;
  readonly #clock: Clock;
  readonly #poll: ReturnType<typeof longPoll>;
  readonly #openStream: () => Promise<EventStream>;
  /** The name of the collection. */
  readonly name: string;
  #stream: EventStream | undefined;
  /** Pushes so far, and how many were answered before a collection or scope was pulled last. */
  #pushes = 0;
  readonly #seen = new Map<object, number>();
  /** What names the collection, or one of its scopes, to the stream. */
  readonly #heard = new Map<string | undefined, object>();
  #abilities: AbilitiesAnswer | undefined;
  readonly #takesEvents: boolean;
  #packed: Promise<PackedPull | undefined> | undefined;

  /**
   * @param takesEvents Whether changes come by the stream, or in packed pages. They may be older
   *   than what this page has pushed since.
   */
  constructor(
    settings: Pick<FetcherSettings, 'headers' | 'fetch' | 'locks'> & { readonly url: string },
    clock: Clock,
    takesEvents = true,
  ) {
    const { url, headers, fetch } = settings;
    this.#takesEvents = takesEvents;
    if (takesEvents) packedPulls.set(this.pull, (...asked) => this.#pullPacked(...asked));
    this.id = `http:${url}`;
    this.#clock = clock;
    this.#url = url;
    this.#fetcher = new Fetcher({ ...settings, readRefusal: readErrorAnswer, clock });
    this.#poll = longPoll(clock, SILENCE_MS);
    const at = url.lastIndexOf('/');
    this.name = decodeURIComponent(url.slice(at + 1));
    this.#openStream = async () => {
      const { streamAt } = await import('./fetching/event-stream.ts');
      return streamAt(url.slice(0, at), headers, fetch, this.#fetcher, clock);
    };
  }

  readonly pull = async (after: string | undefined, ask: PullAsk): Promise<PulledPage<string>> => {
    const { limit, signal, scope } = ask;
    const [name, pushes] = [this.#nameOf(scope), this.#pushes];
    const brought = after === undefined ? undefined : this.#stream?.take(name, after);
    // An event may be older than a push since: the document would go back to what it was.
    const isNewer = (this.#seen.get(name) ?? 0) === pushes;
    if (brought && isNewer && this.#takesEvents) return brought;
    const body = { after: after ?? null, limit, scope };
    try {
      const page = await this.#call('pull', body, signal, (answer) =>
        readPullAnswer(answer, limit, scope !== undefined),
      );
      if (!page.more) this.#seen.set(name, pushes);
      return page;
    } catch (error) {
      if (error instanceof OversizedAnswer && limit > 1)
        return this.pull(after, { ...ask, limit: Math.ceil(limit / 2) });
      // Another server has this URL now.
      const isForeign =
        error instanceof RefusedError && error.refusal?.code === 'checkpoint_invalid';
      if (after === undefined || !isForeign) throw error;
      return { ...(await this.pull(undefined, ask)), reset: true };
    }
  };

  async #pullPacked(
    after: string | undefined,
    ask: PullAsk,
  ): Promise<PackedPage | PulledPage<string>> {
    // Where its code does not load, ordinary pages will do.
    this.#packed ??= import('./fetching/packed-pull.ts').then(
      (code) => new code.PackedPull(this.#fetcher, `${this.#url}/pull`, this.#clock, this.pull),
      () => undefined,
    );
    return ((await this.#packed) ?? this).pull(after, ask);
  }

  readonly files: RemoteFiles = {
    received: ({ sha256, size }, device, { signal }) =>
      this.#fetcher.fetch({ url: this.#fileUrl(sha256, { device, size }), signal }, readFileAnswer),
    send: ({ sha256, size }, device, from, body, { signal }) => {
      const url = this.#fileUrl(sha256, { device, size, from });
      return this.#fetcher.fetch({ url, body, signal }, readFileAnswer);
    },
    read: ({ sha256 }, from, { signal }) => {
      const url = this.#fileUrl(sha256, { from });
      return this.#fetcher.fetchBytes({ url, signal }, PART_BYTES);
    },
  };

  #fileUrl(sha256: string, query: Readonly<Record<string, string | number>>): string {
    return `${this.#url}/files/${sha256}?${new URLSearchParams(query as Record<string, string>)}`;
  }

  async push(rows: readonly LocalChange[], { signal }: Ask): Promise<PushResult[]> {
    const isPlain = !rows.some((row) => row.operations) || !(await this.#can('operations', signal));
    const { sendable, results } = encodeRows(rows, (row) =>
      toWireRow(isPlain ? { ...row, operations: undefined } : row),
    );
    for (const batch of batchesOf(sendable)) {
      // Rows that come again have their keys: the server answers them as at first.
      const made = await callByHalves(
        batch,
        (rows) => this.#push(rows, signal),
        () => [{ rejected: { reason: "The server's document is too large." } }],
      ).finally(() => {
        this.#pushes++;
      });
      for (const [at, { index }] of batch.entries()) results[index] = made[at] as PushResult;
    }
    return results;
  }

  async *watch(after: string, { signal, scopes }: WatchAsk): AsyncIterable<void> {
    const places = (scopes ?? [{ after }]) as readonly HeardPlace[];
    for (;;) {
      const heard = await this.#hear(places, signal);
      // Without a connection to keep, the page asks now and then.
      if (heard === undefined) return;
      if (!heard && !(await this.#holdPoll(after, signal))) return;
      yield;
    }
  }

  #holdPoll(after: string, signal: AbortSignal): Promise<boolean> {
    const read = (body: unknown) => readWatchAnswer(body).changed;
    return this.#fetcher.hold(this.#url, () =>
      this.#poll(after, signal, (polling) => this.#call('watch', { after }, polling, read)),
    );
  }

  /** As {@link EventStream.wait}. */
  async #hear(places: readonly HeardPlace[], signal: AbortSignal): Promise<boolean | undefined> {
    const ability = places[0]?.scope ? 'scopedStream' : 'stream';
    if (!(await this.#can(ability, signal))) return false;
    // Where its code does not load, polls will do.
    const opening = this.#stream ?? this.#openStream().catch(() => undefined);
    this.#stream = await pauseFor(this.#clock, ANSWER_MS, signal, Promise.resolve(opening));
    const named = places.map((one) => ({ ...one, heard: this.#nameOf(one.scope) }));
    return this.#stream ? this.#stream.wait(named, this.name, signal) : false;
  }

  #nameOf(scope: ReplicationScope | undefined): object {
    const key = JSON.stringify(scope);
    const name = this.#heard.get(key) ?? {};
    this.#heard.set(key, name);
    return name;
  }

  /** Whether the server can do something. An older one has no such route. */
  async #can(ability: keyof AbilitiesAnswer, signal: AbortSignal): Promise<boolean> {
    const request = { url: this.#url, signal };
    try {
      const answer = this.#abilities ?? this.#fetcher.fetch(request, readAbilitiesAnswer);
      // A network may lose the answer without a sign.
      this.#abilities = await pauseFor(this.#clock, ANSWER_MS, signal, Promise.resolve(answer));
    } catch (error) {
      const { code = '' } = error as Partial<ReplicationError>;
      // What passes is asked again: without an answer, the device does without it.
      if (FINAL.has(code)) this.#abilities = {};
    }
    return this.#abilities?.[ability] === true;
  }

  async #push(batch: readonly SendableRow<WireRow>[], signal: AbortSignal): Promise<PushResult[]> {
    const rows = batch.map(({ row }) => row);
    try {
      return await this.#call('push', { rows: batch.map(({ wire }) => wire) }, signal, (body) =>
        readPushAnswer(body, rows),
      );
    } catch (error) {
      throw blameless(error);
    }
  }

  #call<T>(
    route: 'pull' | 'push' | 'watch',
    body: object,
    signal: AbortSignal,
    read: (body: unknown) => T,
  ): Promise<T> {
    const url = `${this.#url}/${route}`;
    return this.#fetcher.fetch({ url, body, signal }, read);
  }
}

/**
 * Options of {@link http}; `url` is that of one collection, such as
 * `https://example.com/sync/orders`.
 */
export interface HttpOptions extends FetchingOptions {
  /** Encrypts documents for devices with the key: the server cannot read them. */
  readonly encrypt?: EncryptOptions | undefined;
}

/**
 * A server that speaks the protocol of `cairndb/server`.
 *
 * @throws {OptionError} with the invalid option.
 *
 * @example
 * ```ts
 * const sync = replicate(orders, {
 *   remote: http({
 *     url: 'https://example.com/sync/orders',
 *     headers: async () => ({ authorization: `Bearer ${await token()}` }),
 *   }),
 * });
 * ```
 *
 * @example A handler in the same process, for tests and demos.
 * ```ts
 * const handler = createHandler({ store: memory(), authorize: () => true });
 * const remote = http({
 *   url: 'https://localhost/sync/orders',
 *   fetch: (url, init) => handler(new Request(url, init)),
 * });
 * ```
 */
export function http(options: HttpOptions): Remote<string> {
  const checks = { ...fetchingChecks, encrypt: encryptCheck };
  const given = checkOptions(options, checks, 'http(options)') as unknown as HttpOptions;
  const { url, headers = {}, fetch, encrypt } = given;
  const remote = new HttpRemote({ url: parseUrl(url), headers, fetch }, systemClock, !encrypt);
  return encrypt ? sealed(remote, remote.name, encrypt) : remote;
}
