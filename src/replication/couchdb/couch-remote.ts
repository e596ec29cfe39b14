import type { Clock } from '../../async/clock.ts';
import { type JsonObject, Malformed } from '../../codec/exact-json/json-checks.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { ReplicationError } from '../../errors/replication-error.ts';
import { OversizedAnswer, RefusedError } from '../fetching/answer-errors.ts';
import { Fetcher, type FetcherSettings } from '../fetching/fetcher.ts';
import { longPoll } from '../fetching/long-poll.ts';
import { batchesOf, callByHalves } from '../fetching/push-batches.ts';
import { pauseFor } from '../fetching/slowdown.ts';
import { mergeChangedFields, sameContent } from '../merge-fields.ts';
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
  type EditResult,
  readCheckpoint,
  readRefusal,
} from './couch-answers.ts';
import { CouchDatabase, HEARTBEAT_MS } from './couch-database.ts';
import { type CouchDocument, type CouchEdit, fromCouch, toCouch } from './couch-documents.ts';
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
  readonly #poll: ReturnType<typeof longPoll>;
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
    this.#poll = longPoll(clock, 2 * HEARTBEAT_MS);
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
          const rings = this.#poll(name, ended.signal, (polling, onBytes) =>
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
      await pauseFor(this.#clock, LOOK_MS, signal);
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

/** A document whose branches can be merged. */
interface Branched {
  readonly winner: CouchDocument;
  readonly losers: readonly CouchDocument[];
  readonly merged: object;
}

/**
 * Merges the branches that nodes of a cluster made of a document while they did not see each other.
 *
 * Clients that merge at once agree: from the same leaves all write the same content over the same
 * winner, and CouchDB computes revisions from both. A database takes the first and refuses the
 * others, which then read what it has; nodes that do not see each other get the same revision,
 * which is no branch. The losers are deleted afterwards, not in the same request: if the winner has
 * changed meanwhile, its merge is refused, and a deleted loser would be lost.
 *
 * @returns the documents as they are on the server now.
 */
async function mergeBranches(
  database: CouchDatabase,
  rows: readonly ChangeRow[],
  signal: AbortSignal,
): Promise<CouchDocument[]> {
  const present = new Map(rows.map(({ document }) => [document._id, document]));
  const revisions = rows.flatMap(({ document: { _id: id }, conflicts }) =>
    conflicts.map((rev) => ({ id, rev })),
  );
  const bodies = await database.bodies(revisions, signal);
  const mergeable = rows.flatMap(({ document: winner, conflicts }): Branched[] => {
    const losers = bodies.get(winner._id) ?? [];
    // One that is gone was deleted meanwhile, or compacted: the feed tells.
    if (losers.length === 0 || losers.length < conflicts.length) return [];
    const merged = merge(winner, losers);
    return merged ? [{ winner, losers, merged }] : [];
  });
  try {
    for (const document of await write(database, mergeable, signal))
      present.set(document._id, document);
  } catch (error) {
    // A user who may only read gets the winner, as other programs do; so do all where a merge is
    // too large.
    const codes = ['unauthorized', 'forbidden', 'refused', 'too_large'].map(
      (one) => `remote_${one}`,
    );
    if (!(error instanceof ReplicationError) || !codes.includes(error.code)) throw error;
  }
  return [...present.values()];
}

/**
 * Fields of the winner win; losers add those that it lacks. @returns `undefined` if something would
 * be lost.
 */
function merge(winner: CouchDocument, losers: readonly CouchDocument[]): object | undefined {
  // Only the revision that has an attachment can be updated without sending it.
  if (!losers.every((loser) => hasAttachmentsOf(winner, loser))) return undefined;
  const lowestFirst = [...losers].sort((a, b) => compareRevisions(a._rev, b._rev));
  try {
    return [...lowestFirst, winner]
      .map((leaf) => fromCouch(leaf).document ?? undefined)
      .reduce((lower, higher) => mergeChangedFields(undefined, lower, higher).result);
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

/** Whether the winner has what a loser has attached, byte for byte. */
function hasAttachmentsOf(winner: CouchDocument, loser: CouchDocument): boolean {
  const kept = attachmentsOf(winner);
  return Object.entries(attachmentsOf(loser)).every(([name, one]) => {
    const digest = digestOf(one);
    return digest !== undefined && Object.hasOwn(kept, name) && digestOf(kept[name]) === digest;
  });
}

function attachmentsOf({ _attachments }: CouchDocument): JsonObject {
  return isPlainObject(_attachments) ? (_attachments as JsonObject) : {};
}

/** The hash of the content that CouchDB names in each stub. */
function digestOf(stub: unknown): string | undefined {
  const digest = isPlainObject(stub) ? (stub as JsonObject).digest : undefined;
  return typeof digest === 'string' ? digest : undefined;
}

/** @returns the documents that were written, or were refused because others had written. */
async function write(
  database: CouchDatabase,
  branched: readonly Branched[],
  signal: AbortSignal,
): Promise<CouchDocument[]> {
  if (branched.length === 0) return [];
  const isMerged = ({ winner, merged }: Branched) =>
    sameContent(fromCouch(winner).document, merged);
  const open = branched.filter((one) => !isMerged(one));
  // No key: all clients that merge the same branches write the same.
  const edits = open.map(({ winner: { _id, _rev, _attachments }, merged }) =>
    toCouch(_id, merged, { revision: _rev, attachments: _attachments }),
  );
  const results = await writeAll(database, edits, signal);
  const stale: string[] = [];
  const done = branched.filter(isMerged);
  const written: CouchDocument[] = [];
  for (const [index, one] of open.entries()) {
    const result = results[index];
    if (result && 'revision' in result) {
      done.push(one);
      written.push({ ...(edits[index] as CouchDocument), _rev: result.revision });
    } else if (result?.error === 'conflict') stale.push(one.winner._id);
  }
  const deletions = done.flatMap(({ losers }) =>
    losers.map(({ _id, _rev }) => toCouch(_id, undefined, { revision: _rev })),
  );
  // A loser that somebody else has deleted or changed is refused, which is as well: the feed tells
  // of the change.
  await writeAll(database, deletions, signal);
  const newest = await callByHalves(
    stale,
    async (ids) => [...(await database.present(ids, signal)).values()],
    () => [],
  );
  return [...written, ...newest];
}

async function writeAll(
  database: CouchDatabase,
  edits: readonly CouchEdit[],
  signal: AbortSignal,
): Promise<EditResult[]> {
  const results: EditResult[] = [];
  for (const batch of batchesOf(edits.map((wire) => ({ wire }))))
    results.push(
      ...(await database.write(
        batch.map(({ wire }) => wire),
        signal,
      )),
    );
  return results;
}
