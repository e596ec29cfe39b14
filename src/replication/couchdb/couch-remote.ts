import type { Clock } from '../../async/clock.ts';
import type { JsonObject } from '../../codec/exact-json/json-checks.ts';
import { Malformed } from '../../errors/errors.ts';
import { OversizedAnswer, RefusedError } from '../fetching/answer-errors.ts';
import { Fetcher, type FetcherSettings } from '../fetching/fetcher.ts';
import { longPoll } from '../fetching/long-poll.ts';
import { pauseFor } from '../fetching/slowdown.ts';
import { PART_BYTES } from '../protocol/http-fields.ts';
import type {
  FileAsk,
  LocalChange,
  PulledPage,
  PushResult,
  RefusedRow,
  Remote,
  RemoteChange,
  RemoteFile,
  ReplicationScope,
} from '../protocol/remote.ts';
import {
  type ChangeRow,
  type ChangesAnswer,
  type CouchCheckpoint,
  readCheckpoint,
  readRefusal,
  type SeenDocuments,
} from './couch-answers.ts';
import { mergeBranches } from './couch-branches.ts';
import { CouchDatabase, HEARTBEAT_MS } from './couch-database.ts';
import { type CouchDocument, fromCouch } from './couch-documents.ts';
import { findLeft, MatchingDocuments, newestSeen } from './couch-leaving.ts';
import { pushRows } from './couch-push.ts';
import { hashJson } from './exact-values.ts';
import { compareRevisions, revisionOf } from './revisions.ts';

/** A client that waits for changes looks so often what no poll tells. */
const LOOK_MS = 60_000;

/** Scopes that are remembered: users go through their values. */
const MOST_PARTS = 100;

/** A node that lags behind is asked again: first delay, in milliseconds, and how often. */
const [LAG_MS, MOST_LAGS] = [100, 5];

type PushAsk = Parameters<Remote['push']>[1];
type PullAsk = Parameters<Remote<CouchCheckpoint>['pull']>[1];
type WatchAsk = Parameters<NonNullable<Remote<CouchCheckpoint>['watch']>>[1];

export interface CouchSettings extends Pick<FetcherSettings, 'headers' | 'fetch' | 'locks'> {
  readonly url: string;
  /** `undefined`: all documents. */
  selectorOf(scope: ReplicationScope | undefined): JsonObject | undefined;
}

/** What a pull is of: documents that match, or all. */
interface Part {
  /** Hash of the selector. */
  readonly name?: string;
  readonly matching?: MatchingDocuments;
}

/** See `couchdb()`. */
export class CouchRemote implements Remote<CouchCheckpoint> {
  readonly id: string;
  readonly #database: CouchDatabase;
  readonly #poll: ReturnType<typeof longPoll>;
  readonly #clock: Clock;
  readonly #selectorOf: CouchSettings['selectorOf'];
  /** By their selectors, as JSON; those last that were used last. */
  readonly #parts = new Map<string | undefined, Part>();
  /** What this page has pushed, and not pulled yet: no checkpoint tells of it. */
  #pushed: SeenDocuments = [];
  /** Most rows of an answer, halved where they are too large together. */
  #limit = Number.POSITIVE_INFINITY;

  constructor({ url, selectorOf, ...asked }: CouchSettings, clock: Clock) {
    this.id = `couchdb:${url}`;
    this.#clock = clock;
    this.#selectorOf = selectorOf;
    const fetcher = new Fetcher({ ...asked, readRefusal, clock });
    this.#database = new CouchDatabase(url, fetcher);
    this.#poll = longPoll(clock, 2 * HEARTBEAT_MS);
  }

  async pull(
    after: CouchCheckpoint | undefined,
    ask: PullAsk,
  ): Promise<PulledPage<CouchCheckpoint>> {
    const { signal } = ask;
    const part = this.#partOf(ask.scope);
    const known = ownCheckpoint(after, part);
    const page = known && (await this.#pageAfter(known, part, ask));
    if (page) return page;
    this.#pushed = [];
    // Before the changes: the next pull notices a database that is created anew in between, and
    // documents that leave meanwhile.
    const database = await this.#database.identity(signal);
    const now = part.matching && (await this.#database.changedIds({ since: 'now' }, 1, signal));
    const start = { since: 0, database, ...(now && { left: now.lastSeq }) };
    const answer = await this.#changes(0, part, ask);
    // What has left meanwhile is found next, if it is too much now.
    const first =
      (await this.#page(answer, start, part, ask)) ??
      (await this.#documents(answer, start, part, signal));
    return { ...first, ...(after !== undefined && { reset: true }) };
  }

  async push(rows: readonly LocalChange[], ask: PushAsk): Promise<PushResult[]> {
    const results = await pushRows(this.#database, rows, ask);
    for (const [at, { id }] of rows.entries()) {
      const result = results[at];
      const made = result && 'version' in result ? revisionOf(result.version) : undefined;
      if (made) this.#pushed = newestSeen(this.#pushed, [[id, made]]);
      if (made) for (const { matching } of this.#parts.values()) matching?.notePush(id, made);
    }
    return results;
  }

  /** A part of a file, which is an attachment of its document. */
  readFile(file: RemoteFile, from: number, ask: FileAsk): Promise<Uint8Array<ArrayBuffer>> {
    const length = Math.min(PART_BYTES, file.size - from);
    return this.#database.attachment(file, [from, length], ask);
  }

  async *watch(after: CouchCheckpoint, { signal, scopes }: WatchAsk): AsyncIterable<void> {
    const parts = scopes?.map((one) => this.#partOf(one.scope)) ?? [this.#partOf(undefined)];
    const [first = {}] = parts;
    const selectors = parts.flatMap(({ matching }) => (matching ? [matching.selector] : []));
    const selector = selectors.length > 1 ? { $or: selectors } : selectors[0];
    const checkpoint = ownCheckpoint(after, first);
    const name = JSON.stringify(checkpoint?.since);
    for (;;) {
      if (checkpoint) {
        const ended = new AbortController();
        const end = () => ended.abort(signal.reason);
        signal.addEventListener('abort', end);
        if (signal.aborted) end();
        try {
          const rings = this.#database.hold(() =>
            this.#poll(name, ended.signal, (polling) =>
              this.#database.poll({ since: checkpoint.since, selector }, polling),
            ),
          );
          const unheard = this.#unheard(checkpoint, ended.signal).then(() => true);
          // Without a connection to keep, the page asks now and then.
          if (!(await Promise.race([rings, unheard]))) return;
        } finally {
          signal.removeEventListener('abort', end);
          end();
        }
      }
      yield;
    }
  }

  #partOf(scope: ReplicationScope | undefined): Part {
    const selector = this.#selectorOf(scope);
    const key = JSON.stringify(selector);
    const part = this.#parts.get(key) ?? {
      ...(selector && { name: hashJson(selector), matching: new MatchingDocuments(selector) }),
    };
    this.#parts.delete(key);
    this.#parts.set(key, part);
    const [oldest] = this.#parts.keys();
    // What is found anew costs requests, and no documents.
    if (this.#parts.size > MOST_PARTS) this.#parts.delete(oldest);
    return part;
  }

  /** @returns `undefined` if the database does not know the checkpoint, or too much has changed. */
  async #pageAfter(
    checkpoint: CouchCheckpoint,
    part: Part,
    ask: PullAsk,
  ): Promise<PulledPage<CouchCheckpoint> | undefined> {
    let answer: ChangesAnswer;
    try {
      answer = await this.#changes(checkpoint.since, part, ask);
    } catch (error) {
      if (error instanceof RefusedError && error.status === 400) return undefined;
      throw error;
    }
    // Behind the changes, so that these are of the database that is seen; once for all pages.
    const now = hasMore(answer) ? checkpoint : await this.#confirmed(checkpoint, ask.signal);
    return now && this.#page(answer, now, part, ask);
  }

  /** @returns `undefined` if too much has changed to find what has left. */
  async #page(
    answer: ChangesAnswer,
    before: CouchCheckpoint,
    part: Part,
    ask: PullAsk,
    lags = 0,
  ): Promise<PulledPage<CouchCheckpoint> | undefined> {
    const { signal, held = async (ids) => ids } = ask;
    const page = await this.#documents(answer, before, part, signal);
    const { matching } = part;
    const { left: from } = before;
    if (!matching || from === undefined || page.more) return page;
    // Nothing at all has changed.
    if (answer.lastSeq === from && matching.pushed.size === 0) return page;
    const coming = new Set(page.changes.map(({ id }) => id));
    const found = await findLeft(this.#database, matching, { from, held, coming, signal });
    if (!found) return undefined;
    if (found.isLate && lags < MOST_LAGS) {
      await pauseFor(this.#clock, LAG_MS * 2 ** lags, signal);
      const again = await this.#changes(before.since, part, ask);
      return this.#page(again, before, part, ask, lags + 1);
    }
    const { left, place } = found;
    const seen = newestSeen(page.checkpoint.seen ?? [], found.seen);
    matching.pushed.clear();
    const gone = new Set(left.map(({ id }) => id));
    return {
      ...page,
      changes: [...page.changes.filter(({ id }) => !gone.has(id)), ...left],
      // What matches may be old: a copy that was restored may have it.
      checkpoint: { ...page.checkpoint, left: place, ...(seen.length > 0 && { seen }) },
    };
  }

  /** The documents of an answer, whatever has left. */
  async #documents(
    answer: ChangesAnswer,
    before: CouchCheckpoint,
    { name, matching }: Part,
    signal: AbortSignal,
  ): Promise<PulledPage<CouchCheckpoint>> {
    const documents = await mergeBranches(this.#database, newestRows(answer.rows), signal);
    for (const { document } of answer.rows) matching?.note(document._id, document._rev);
    const more = hasMore(answer);
    const newest = documents.map(({ _id, _rev }) => [_id, _rev] as const);
    // The last page compares what the first one has seen.
    const seen = (more && before.seen) || newestSeen(before.seen ?? [], newest);
    const come = new Set(newest.map(([id]) => id));
    this.#pushed = this.#pushed.filter(([id]) => !come.has(id));
    const { changes, rejected } = readable(documents);
    rejected.push(...(answer.rejected ?? []));
    const { database, left } = before;
    return {
      changes,
      ...(rejected.length > 0 && { rejected }),
      checkpoint: {
        ...{ since: answer.lastSeq, database },
        ...(seen.length > 0 && { seen }),
        ...(name !== undefined && { selector: name }),
        ...(left !== undefined && { left }),
      },
      more,
    };
  }

  /** A checkpoint, if it is of the history that the database has now; else `undefined`. */
  async #confirmed(
    checkpoint: CouchCheckpoint,
    signal: AbortSignal,
  ): Promise<CouchCheckpoint | undefined> {
    const { since, seen = [] } = checkpoint;
    const all = newestSeen(seen, this.#pushed);
    const [database, isKnown] = await Promise.all([
      this.#database.identity(signal),
      all.length === 0 || this.#database.knows(all, signal),
    ]);
    // Two first clients may have named it at once: then it knows what was pushed since its start.
    const isNamedAnew = all.length > 0 && Number.parseInt(`${since}`, 10) === 0;
    const isSame = database === checkpoint.database || isNamedAnew;
    return isSame && isKnown ? { ...checkpoint, database } : undefined;
  }

  /**
   * Resolves when there is something that no poll tells: the database has another history than that
   * of the checkpoint, or documents have changed that do not match: some may have left. A poll for
   * these would wake each device with each change of all others.
   */
  async #unheard(checkpoint: CouchCheckpoint, signal: AbortSignal): Promise<void> {
    const { left } = checkpoint;
    for (;;) {
      await pauseFor(this.#clock, LOOK_MS, signal);
      if (!(await this.#confirmed(checkpoint, signal))) return;
      if (left === undefined) continue;
      const { count } = await this.#database.changedIds({ since: left }, 1, signal);
      if (count > 0) return;
    }
  }

  async #changes(
    since: CouchCheckpoint['since'],
    { matching }: Part,
    { limit, signal }: Pick<PullAsk, 'limit' | 'signal'>,
  ): Promise<ChangesAnswer> {
    const place = { since, selector: matching?.selector };
    for (;;) {
      const asked = Math.min(limit, this.#limit);
      try {
        const answer = await this.#database.changes(place, asked, signal);
        // It was halved for a few large ones.
        if (asked < limit) this.#limit = 2 * asked;
        const { count, pending = count < asked ? 0 : 1 } = answer;
        return { ...answer, pending };
      } catch (error) {
        if (!(error instanceof OversizedAnswer)) throw error;
        if (asked === 1) return this.#database.largeChange(place, signal);
        this.#limit = Math.ceil(asked / 2);
      }
    }
  }
}

/** @returns `undefined` for a checkpoint of something else, such as of another selector. */
function ownCheckpoint(after: unknown, { name }: Part): CouchCheckpoint | undefined {
  const checkpoint = readCheckpoint(after);
  return checkpoint?.selector === name ? checkpoint : undefined;
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
