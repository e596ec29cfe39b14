import type { JsonObject } from '../../codec/exact-json/json-checks.ts';
import type { Clock } from '../../engine/scheduling/clock.ts';
import { OversizedAnswer, RefusedError } from '../fetching/answer-errors.ts';
import { Fetcher, type FetcherSettings } from '../fetching/fetcher.ts';
import { LongPoll } from '../fetching/long-poll.ts';
import type { LocalChange, PulledPage, PushResult, Remote } from '../protocol/remote.ts';
import { type ChangeRow, type ChangesAnswer, readRefusal } from './couch-answers.ts';
import { mergeBranches } from './couch-branches.ts';
import { type CouchCheckpoint, numberOf, readCheckpoint } from './couch-checkpoint.ts';
import { CouchDatabase, HEARTBEAT_MS } from './couch-database.ts';
import { fromCouch } from './couch-documents.ts';
import { pushRows } from './couch-push.ts';
import { compareRevisions } from './revisions.ts';

/** The identity of a database is requested again after so long. */
const IDENTITY_MS = 30_000;

type Ask = { readonly signal: AbortSignal };

/** Settings of a {@link CouchRemote}. */
export interface CouchSettings extends Pick<FetcherSettings, 'headers' | 'fetch'> {
  readonly url: string;
  readonly selector: JsonObject | undefined;
}

/** See `couchdb()`. */
export class CouchRemote implements Remote<CouchCheckpoint> {
  readonly id: string;
  readonly #database: CouchDatabase;
  readonly #poll: LongPoll;
  readonly #clock: Clock;
  /** The identity of the database; `undefined` after a failure: the server may come back as another. */
  #identity: { readonly name: string; readonly until: number } | undefined;
  /** Most rows of an answer, halved where they are too large together. */
  #limit = Number.POSITIVE_INFINITY;

  constructor({ url, headers, fetch, selector }: CouchSettings, clock: Clock) {
    this.id = `couchdb:${url}`;
    this.#clock = clock;
    const fetcher = new Fetcher({ headers, fetch, readRefusal, clock });
    this.#database = new CouchDatabase(url, fetcher, selector);
    this.#poll = new LongPoll(clock, 2 * HEARTBEAT_MS);
  }

  async pull(
    after: CouchCheckpoint | undefined,
    { limit, signal }: Ask & { readonly limit: number },
  ): Promise<PulledPage<CouchCheckpoint>> {
    return this.#watchful(signal, async () => {
      const known = after && (await this.#check(readCheckpoint(after), signal));
      let answer = known && (await this.#changesAfter(known, limit, signal));
      const reset = after !== undefined && !answer;
      // Requested before the changes: the next pull notices a database that is created anew in between.
      const database = known && answer ? known.database : await this.#identify(signal);
      answer ??= await this.#changes(0, limit, signal);
      const documents = await mergeBranches(this.#database, newestRows(answer.rows), signal);
      const last = documents.at(-1);
      const seen = last ? ([last._id, last._rev] as const) : known?.seen;
      const { count, lastSeq, pending } = answer;
      return {
        changes: documents.map(fromCouch),
        checkpoint: { since: lastSeq, database, ...(seen && { seen }) },
        more:
          count > 0 &&
          (pending === undefined ? count >= Math.min(limit, this.#limit) : pending > 0),
        ...(reset && { reset }),
      };
    });
  }

  async push(rows: readonly LocalChange[], { signal }: Ask): Promise<PushResult[]> {
    return this.#watchful(signal, () => pushRows(this.#database, rows, signal));
  }

  async *watch(after: CouchCheckpoint, { signal }: Ask): AsyncIterable<void> {
    const checkpoint = readCheckpoint(after);
    const name = JSON.stringify(checkpoint?.since);
    for (;;) {
      if (checkpoint)
        await this.#watchful(signal, () =>
          this.#poll.wait(name, signal, (polling, onBytes) =>
            this.#database.poll(checkpoint.since, polling, onBytes),
          ),
        );
      yield;
    }
  }

  /** After a failure the server may be another, or an older copy. */
  async #watchful<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (!signal.aborted) this.#identity = undefined;
      throw error;
    }
  }

  /** @returns the checkpoint; `undefined` if it is one of another database. */
  async #check(
    checkpoint: CouchCheckpoint | undefined,
    signal: AbortSignal,
  ): Promise<CouchCheckpoint | undefined> {
    if (!checkpoint) return undefined;
    const before = this.#identity;
    const name = await this.#identify(signal);
    if (this.#identity === before) return name === checkpoint.database ? checkpoint : undefined;
    const isKnown = name === checkpoint.database && (await this.#knows(checkpoint, signal));
    return isKnown ? checkpoint : undefined;
  }

  async #knows({ seen }: CouchCheckpoint, signal: AbortSignal): Promise<boolean> {
    return !seen || (await this.#database.knows(seen[0], seen[1], signal));
  }

  async #identify(signal: AbortSignal): Promise<string> {
    const now = this.#clock.elapsed();
    if (!this.#identity || now >= this.#identity.until) {
      const name = await this.#database.identity(signal);
      this.#identity = { name, until: now + IDENTITY_MS };
    }
    return this.#identity.name;
  }

  /** @returns `undefined` if the database does not know the checkpoint. */
  async #changesAfter(
    checkpoint: CouchCheckpoint,
    limit: number,
    signal: AbortSignal,
  ): Promise<ChangesAnswer | undefined> {
    const { since } = checkpoint;
    let answer: ChangesAnswer;
    try {
      answer = await this.#changes(since, limit, signal);
    } catch (error) {
      if (error instanceof RefusedError && error.status === 400) return undefined;
      throw error;
    }
    const isBehind = numberOf(answer.lastSeq) < numberOf(since);
    return isBehind && !(await this.#knows(checkpoint, signal)) ? undefined : answer;
  }

  async #changes(
    since: CouchCheckpoint['since'],
    limit: number,
    signal: AbortSignal,
  ): Promise<ChangesAnswer> {
    for (;;) {
      const asked = Math.min(limit, this.#limit);
      try {
        return await this.#database.changes(since, asked, signal);
      } catch (error) {
        if (!(error instanceof OversizedAnswer) || asked === 1) throw error;
        this.#limit = Math.ceil(asked / 2);
      }
    }
  }
}

/** One row for each document: a cluster may repeat rows, and in another order. */
function newestRows(rows: readonly ChangeRow[]): ChangeRow[] {
  const newest = new Map<string, ChangeRow>();
  for (const row of rows) {
    const { _id, _rev } = row.document;
    const other = newest.get(_id);
    if (!other || compareRevisions(other.document._rev, _rev) <= 0) newest.set(_id, row);
  }
  return [...newest.values()];
}
