import { checkOptions } from '../api/options/option-checks.ts';
import { type Clock, systemClock } from '../async/clock.ts';
import { asArray, asObject, type JsonObject } from '../codec/exact-json/json-checks.ts';
import { isPlainObject } from '../codec/kinds.ts';
import { ReplicationError, type ReplicationErrorCode } from '../errors/replication-error.ts';
import { OversizedAnswer, type Refusal } from '../replication/fetching/answer-errors.ts';
import { Fetcher } from '../replication/fetching/fetcher.ts';
import { batchesOf, encodeRows } from '../replication/fetching/push-batches.ts';
import {
  type FetchingOptions,
  fetchingChecks,
  parseUrl,
} from '../replication/fetching/remote-options.ts';
import { pauseFor } from '../replication/fetching/slowdown.ts';
import { readPullAnswer, readPushAnswer } from '../replication/protocol/http-answers.ts';
import { toWireRow, type WireRow } from '../replication/protocol/http-requests.ts';
import type {
  LocalChange,
  PulledPage,
  PushResult,
  Remote,
  ReplicationScope,
} from '../replication/protocol/remote.ts';

/** A request, and how to read its answer. */
export interface GraphqlRequest {
  readonly query: string;
  readonly variables?: object | undefined;
  /** The page or results in `data`. @default its only field */
  readonly read?: ((data: never) => unknown) | undefined;
}

type WatchAsk = Parameters<NonNullable<Remote<string>['watch']>>[1];

/** Options of {@link graphql}. */
export interface GraphqlOptions extends FetchingOptions {
  /** Names the data: collections of one server share its URL. */
  readonly name: string;
  /**
   * Asks for changes: `{ changes: [{ id, version, document, key, left }], checkpoint, more, reset,
   * rejected }`. A document that is deleted has none. `null` is as if left out.
   */
  readonly pull: (asked: {
    readonly after: string | null;
    readonly limit: number;
    readonly scope: ReplicationScope | null;
  }) => GraphqlRequest;
  /**
   * Sends rows: for each `{ version, document, deleted }`, `{ conflict }` or `{ rejected: { reason,
   * retry } }`. Their documents are JSON.
   */
  readonly push: (rows: readonly WireRow[]) => GraphqlRequest;
  /**
   * Subscribes: what it yields is a sign that there may be changes, whatever it is. Left out: the
   * server is asked each 15 seconds.
   */
  readonly stream?: ((after: string, ask: WatchAsk) => AsyncIterable<unknown>) | undefined;
  /** Whether `pull` heeds scopes. @default false */
  readonly scopes?: boolean | undefined;
}

/** A subscription may lose an event, or begin late: so looks are due as well. */
const LOOKS_MS = [0, 2000, 60_000] as const;

/** Codes of errors that pass. */
const PASSING = /INTERNAL|UNAVAILABLE|TIME|LIMIT|TOO_MANY|DOWNSTREAM|BUSY|LOCK/;

class GraphqlRemote implements Remote<string> {
  readonly id: string;
  readonly scopes: boolean;
  readonly watch?: NonNullable<Remote<string>['watch']>;
  readonly #options: GraphqlOptions;
  readonly #url: string;
  readonly #fetcher: Fetcher;
  readonly #clock: Clock;

  constructor(options: GraphqlOptions, clock: Clock) {
    const { headers = {}, fetch, name, scopes = false } = options;
    this.#options = options;
    this.#clock = clock;
    this.#url = parseUrl(options.url);
    this.id = `graphql:${this.#url}#${name}`;
    this.scopes = scopes;
    this.#fetcher = new Fetcher({ headers, fetch, readRefusal, clock });
    if (options.stream) this.watch = this.#watch;
  }

  async pull(
    after: string | undefined,
    ask: Parameters<Remote<string>['pull']>[1],
  ): Promise<PulledPage<string>> {
    const { limit, signal, scope = null } = ask;
    const request = this.#options.pull({ after: after ?? null, limit, scope });
    try {
      return await this.#call(request, signal, (body) => readPullAnswer(pageOf(body), limit));
    } catch (error) {
      if (!(error instanceof OversizedAnswer) || limit === 1) throw error;
      return this.pull(after, { ...ask, limit: Math.ceil(limit / 2) });
    }
  }

  async push(
    rows: readonly LocalChange[],
    { signal }: { readonly signal: AbortSignal },
  ): Promise<PushResult[]> {
    const { sendable, results } = encodeRows(rows, (row) =>
      toWireRow({ ...row, device: undefined }),
    );
    for (const batch of batchesOf(sendable)) {
      const request = this.#options.push(batch.map(({ wire }) => wire));
      const sent = batch.map(({ row }) => row);
      const made = await this.#call(request, signal, (body) =>
        readPushAnswer({ results: asArray(body, 'the answer').map(resultOf) }, sent),
      );
      for (const [at, { index }] of batch.entries()) results[index] = made[at] as PushResult;
    }
    return results;
  }

  async *#watch(after: string, ask: WatchAsk): AsyncIterable<void> {
    const { signal } = ask;
    const events = this.#options.stream?.(after, ask)[Symbol.asyncIterator]();
    try {
      for (;;) {
        const event = Promise.resolve(events?.next());
        event.catch(() => undefined);
        const { done = false } = (await this.#heard(event, after, ask)) ?? {};
        yield;
        if (done) return;
        signal.throwIfAborted();
      }
    } finally {
      // One that hangs is of no use any more.
      Promise.resolve(events?.return?.()).catch(() => undefined);
    }
  }

  /** Resolves with an event, or as soon as a look finds changes. */
  async #heard<T>(event: Promise<T>, after: string, { signal, scopes }: WatchAsk) {
    const places = (scopes ?? [{ after }]) as { after: string; scope?: ReplicationScope }[];
    for (let look = 0; ; look++) {
      const heard = await pauseFor(this.#clock, LOOKS_MS[look] ?? LOOKS_MS[2], signal, event);
      if (heard) return heard;
      for (const { after: from, scope } of places) {
        const page = await this.pull(from, { limit: 1, signal, scope });
        if (page.changes.length > 0 || page.more || page.reset) return undefined;
      }
    }
  }

  #call<T>(
    { query, variables = {}, read = onlyField }: GraphqlRequest,
    signal: AbortSignal,
    take: (body: unknown) => T,
  ): Promise<T> {
    const request = { url: this.#url, signal, body: { query, variables } };
    return this.#fetcher.fetch(request, (body) => {
      const { data } = asObject(body, 'the answer');
      const refusal = readRefusal(body);
      if (refusal) throw failureOf(refusal, this.#url);
      return take(read(asObject(data, '"data"') as never));
    });
  }
}

const onlyField = (data: object): unknown => Object.values(data)[0];

/** The first error of an answer. */
function readRefusal(body: unknown): Refusal | undefined {
  const { errors } = (isPlainObject(body) ? body : {}) as JsonObject;
  const [first] = Array.isArray(errors) ? (errors as unknown[]) : [];
  if (!isPlainObject(first)) return undefined;
  const { message, extensions } = first as JsonObject;
  const { code } = (isPlainObject(extensions) ? extensions : {}) as JsonObject;
  return { code: String(code ?? '').slice(0, 100), message: String(message).slice(0, 1000) };
}

function failureOf({ code, message }: Refusal, place: string): ReplicationError {
  const text = `${place} answered with an error: ${code ? `${code}, ` : ''}${message}`;
  return new ReplicationError(codeOf(code), text, { place });
}

/** An error without a code may be of a database that is away. */
function codeOf(code: string): ReplicationErrorCode {
  if (code === 'UNAUTHENTICATED') return 'remote_unauthorized';
  if (code === 'FORBIDDEN') return 'remote_forbidden';
  return code === '' || PASSING.test(code) ? 'remote_failed' : 'remote_refused';
}

/** GraphQL has `null` for what is left out. */
function withoutNulls(value: unknown): JsonObject {
  const fields = Object.entries(asObject(value, 'a part of the answer'));
  return Object.fromEntries(fields.filter(([, field]) => field !== null));
}

function pageOf(body: unknown): JsonObject {
  const page = withoutNulls(body);
  return { ...page, changes: asArray(page.changes, '"changes"').map(changeOf) };
}

function changeOf(value: unknown): JsonObject {
  const change = withoutNulls(value);
  const isGone = change.document === undefined;
  return isGone ? { ...change, deleted: true } : { ...change, deleted: undefined };
}

function resultOf(value: unknown): JsonObject {
  const { deleted, ...result } = withoutNulls(value);
  if (result.conflict !== undefined) return { conflict: changeOf(result.conflict) };
  return { ...result, ...(deleted === true && { document: null }) };
}

/**
 * A server of GraphQL. You write the queries; the schema says what a page of changes is, and what
 * became of a row: docs/sync/graphql.md has one.
 *
 * @throws {OptionError} with the invalid option.
 *
 * @example
 * ```ts
 * const remote = graphql({
 *   ...{ url: 'https://example.com/graphql', name: 'todos' },
 *   pull: (variables) => ({ query: PULL, variables }),
 *   push: (rows) => ({ query: PUSH, variables: { rows } }),
 * });
 * ```
 */
export function graphql(options: GraphqlOptions): Remote<string> {
  const call = { allowed: 'a function', test: (value: unknown) => typeof value === 'function' };
  const checks = {
    ...fetchingChecks,
    name: {
      allowed: 'a name of the data',
      test: (value: unknown) => typeof value === 'string' && value.length > 0,
      required: true,
    },
    pull: { ...call, required: true },
    push: { ...call, required: true },
    stream: call,
    scopes: { allowed: 'true or false', test: (value: unknown) => typeof value === 'boolean' },
  };
  const given = checkOptions(options, checks, 'graphql(options)') as unknown as GraphqlOptions;
  return new GraphqlRemote(given, systemClock);
}
