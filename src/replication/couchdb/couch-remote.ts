import type { Clock } from '../../async/clock.ts';
import { type JsonObject, Malformed } from '../../codec/exact-json/json-checks.ts';
import { orAborted } from '../../page/sending/call-arguments.ts';
import { OversizedAnswer, RefusedError } from '../fetching/answer-errors.ts';
import { Fetcher, type FetcherSettings } from '../fetching/fetcher.ts';
import { LongPoll } from '../fetching/long-poll.ts';
import type {
  LocalChange,
  PulledPage,
  PushResult,
  RefusedRow,
  Remote,
  RemoteChange,
} from '../protocol/remote.ts';
import {
  type ChangeRow,
  type ChangesAnswer,
  type CouchCheckpoint,
  readCheckpoint,
  readRefusal,
} from './couch-answers.ts';
import { mergeBranches } from './couch-branches.ts';
import { CouchDatabase, HEARTBEAT_MS } from './couch-database.ts';
import { type CouchDocument, fromCouch } from './couch-documents.ts';
import { pushRows } from './couch-push.ts';
import { hashJson } from './exact-values.ts';
import { compareRevisions } from './revisions.ts';

/** A client that waits for changes looks so often whether the database is another one by now. */
const LOOK_MS = 60_000;

type Ask = { readonly signal: AbortSignal };

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
  readonly #selector: string | undefined;
  /** Most rows of an answer, halved where they are too large together. */
  #limit = Number.POSITIVE_INFINITY;

  constructor({ url, headers, fetch, selector }: CouchSettings, clock: Clock) {
    this.id = `couchdb:${url}`;
    this.#clock = clock;
    this.#selector = selector && hashJson(selector);
    const fetcher = new Fetcher({ headers, fetch, readRefusal, clock });
    this.#database = new CouchDatabase(url, fetcher, selector);
    this.#poll = new LongPoll(clock, 2 * HEARTBEAT_MS);
  }

  async pull(
    after: CouchCheckpoint | undefined,
    { limit, signal }: Ask & { readonly limit: number },
  ): Promise<PulledPage<CouchCheckpoint>> {
    const known = this.#own(after);
    const page = known && (await this.#pageAfter(known, limit, signal));
    if (page) return page;
    // Before the changes: the next pull notices a database that is created anew in between.
    const database = await this.#database.identity(signal);
    const answer = await this.#changes(0, limit, signal);
    const first = await this.#page(answer, { since: 0, database }, signal);
    return { ...first, ...(after !== undefined && { reset: true }) };
  }

  async push(rows: readonly LocalChange[], { signal }: Ask): Promise<PushResult[]> {
    return pushRows(this.#database, rows, signal);
  }

  async *watch(after: CouchCheckpoint, { signal }: Ask): AsyncIterable<void> {
    const checkpoint = this.#own(after);
    const name = JSON.stringify(checkpoint?.since);
    for (;;) {
      if (checkpoint) {
        const ended = new AbortController();
        const end = () => ended.abort(signal.reason);
        signal.addEventListener('abort', end);
        if (signal.aborted) end();
        try {
          const rings = this.#poll.wait(name, ended.signal, (polling, onBytes) =>
            this.#database.poll(checkpoint.since, polling, onBytes),
          );
          await Promise.race([rings, this.#replaced(checkpoint, ended.signal)]);
        } finally {
          signal.removeEventListener('abort', end);
          end();
        }
      }
      yield;
    }
  }

  /** @returns `undefined` for a checkpoint of something else, such as of another selector. */
  #own(after: CouchCheckpoint | undefined): CouchCheckpoint | undefined {
    const checkpoint = readCheckpoint(after);
    return checkpoint?.selector === this.#selector ? checkpoint : undefined;
  }

  /** @returns `undefined` if the database does not know the checkpoint. */
  async #pageAfter(
    checkpoint: CouchCheckpoint,
    limit: number,
    signal: AbortSignal,
  ): Promise<PulledPage<CouchCheckpoint> | undefined> {
    let answer: ChangesAnswer;
    try {
      answer = await this.#changes(checkpoint.since, limit, signal);
    } catch (error) {
      if (error instanceof RefusedError && error.status === 400) return undefined;
      throw error;
    }
    // Behind the changes, so that these are of the database that is seen; once for all pages.
    if (!hasMore(answer) && !(await this.#isSame(checkpoint, signal))) return undefined;
    return this.#page(answer, checkpoint, signal);
  }

  async #page(
    answer: ChangesAnswer,
    before: CouchCheckpoint,
    signal: AbortSignal,
  ): Promise<PulledPage<CouchCheckpoint>> {
    const documents = await mergeBranches(this.#database, newestRows(answer.rows), signal);
    const more = hasMore(answer);
    const last = documents.at(-1);
    // The last page compares what the first one has seen.
    const newest = last && ([last._id, last._rev] as const);
    const seen = (more && before.seen) || newest || before.seen;
    const { changes, rejected } = readable(documents);
    rejected.push(...(answer.rejected ?? []));
    return {
      changes,
      ...(rejected.length > 0 && { rejected }),
      checkpoint: {
        ...{ since: answer.lastSeq, database: before.database },
        ...(seen && { seen }),
        ...(this.#selector !== undefined && { selector: this.#selector }),
      },
      more,
    };
  }

  /** Whether a checkpoint is of the history that the database has now. */
  async #isSame({ database, seen }: CouchCheckpoint, signal: AbortSignal): Promise<boolean> {
    const [name, isKnown] = await Promise.all([
      this.#database.identity(signal),
      !seen || this.#database.knows(...seen, signal),
    ]);
    return name === database && isKnown;
  }

  /** Resolves when the database has another history than that of the checkpoint. */
  async #replaced(checkpoint: CouchCheckpoint, signal: AbortSignal): Promise<void> {
    for (;;) {
      let cancel: (() => void) | undefined;
      const due = new Promise<void>((resolve) => {
        cancel = this.#clock.after(LOOK_MS, resolve, true);
      });
      await orAborted(due, signal).finally(cancel);
      if (!(await this.#isSame(checkpoint, signal))) return;
    }
  }

  async #changes(
    since: CouchCheckpoint['since'],
    limit: number,
    signal: AbortSignal,
  ): Promise<ChangesAnswer> {
    for (;;) {
      const asked = Math.min(limit, this.#limit);
      try {
        const answer = await this.#database.changes(since, asked, signal);
        // It was halved for a few large ones.
        if (asked < limit) this.#limit = 2 * asked;
        const { count, pending = count < asked ? 0 : 1 } = answer;
        return { ...answer, pending };
      } catch (error) {
        if (!(error instanceof OversizedAnswer)) throw error;
        if (asked === 1) return this.#database.largeChange(since, signal);
        this.#limit = Math.ceil(asked / 2);
      }
    }
  }
}

/** Whether there are more changes; older servers do not say how many. */
function hasMore({ count, pending = 1 }: ChangesAnswer): boolean {
  return count > 0 && pending > 0;
}

/** One that no collection can hold must not stop all others. */
function readable(documents: readonly CouchDocument[]): {
  readonly changes: RemoteChange[];
  readonly rejected: RefusedRow[];
} {
  const [changes, rejected]: [RemoteChange[], RefusedRow[]] = [[], []];
  for (const document of documents)
    try {
      changes.push(fromCouch(document));
    } catch (error) {
      if (!(error instanceof Malformed)) throw error;
      rejected.push({ id: document._id, reason: `The document is invalid: ${error.message}.` });
    }
  return { changes, rejected };
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
