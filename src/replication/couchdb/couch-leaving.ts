import type { JsonObject } from '../../codec/exact-json/json-checks.ts';
import { RefusedError } from '../fetching/answer-errors.ts';
import type { HeldIds, RemoteChange } from '../protocol/remote.ts';
import type { ChangedIds, SeenDocuments, Sequence } from './couch-answers.ts';
import type { CouchDatabase, Place } from './couch-database.ts';
import { generationOf } from './revisions.ts';

/** Ids in one answer. */
const IDS_AT_ONCE = 5000;

/** Where more has changed, to pull what matches anew costs less. */
const MOST_CHANGED = 100_000;

/** So many documents are looked up one by one. */
const MOST_ASKED = 50;

/** Documents that are remembered, at most. */
const MOST_NOTED = 20_000;

/** So many documents show whether a database is the same. */
const MOST_SEEN = 8;

/** What a checkpoint keeps of what it has seen. */
export function newestSeen(before: SeenDocuments, now: SeenDocuments): SeenDocuments {
  const named = new Set(now.map(([id]) => id));
  return [...before.filter(([id]) => !named.has(id)), ...now].slice(-MOST_SEEN);
}

/** The documents that match a selector, as far as this page knows. */
export class MatchingDocuments {
  readonly selector: JsonObject;
  /** What this device has pushed, and not pulled yet: revisions by id. */
  readonly pushed = new Map<string, string>();
  readonly #come = new Map<string, string>();

  constructor(selector: JsonObject) {
    this.selector = selector;
  }

  /** A state has come, which matches: that is true for ever. */
  note(id: string, revision: string): void {
    this.#come.delete(id);
    this.#come.set(id, revision);
    const [oldest] = this.#come.keys();
    if (this.#come.size > MOST_NOTED) this.#come.delete(oldest as string);
    const made = this.pushed.get(id);
    if (made && generationOf(revision) >= generationOf(made)) this.pushed.delete(id);
  }

  notePush(id: string, revision: string): void {
    if (this.pushed.size < MOST_NOTED) this.pushed.set(id, revision);
  }

  hasCome(id: string, revision: string | undefined): boolean {
    return this.#come.get(id) === revision;
  }
}

interface LeavingAsk {
  /** The place behind which nothing was looked at. */
  readonly from: Sequence;
  readonly held: HeldIds;
  /** What the page brings, which is not here yet: it may have changed since. */
  readonly coming: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

interface Leaving {
  readonly left: readonly RemoteChange[];
  readonly place: Sequence;
  /** What was before that place. */
  readonly seen: SeenDocuments;
  /** Whether what this device has pushed is not in the changes yet: another node has answered. */
  readonly isLate: boolean;
}

/**
 * Finds documents that have changed and do not match any more. A selector tells of those that match
 * alone, and its negation is not the rest: in CouchDB neither `$nor` nor `$ne` matches a field that
 * is missing. So the ids of all changes are read, and each document that is here and did not come
 * is looked up: nodes of a cluster may send old changes again, in one feed and not in the other.
 *
 * @returns `undefined`: too much has changed.
 */
export async function findLeft(
  database: CouchDatabase,
  matching: MatchingDocuments,
  { from, held, coming, signal }: LeavingAsk,
): Promise<Leaving | undefined> {
  const { selector, pushed } = matching;
  const open = new Map<string, string>();
  const shown = new Set<string>();
  let seen: SeenDocuments = [];
  const place = await eachChange(database, { since: from }, signal, async (revisions) => {
    seen = newestSeen(seen, [...revisions]);
    for (const [id, made] of pushed)
      if (generationOf(revisions.get(id) ?? '0-') >= generationOf(made)) shown.add(id);
    const others = [...revisions.keys()].filter((id) => !matching.hasCome(id, revisions.get(id)));
    if (others.length === 0) return;
    const here = [...(await held(others)), ...others.filter((id) => coming.has(id))];
    for (const id of here) open.set(id, revisions.get(id) as string);
  });
  const withoutMatching = () =>
    eachChange(database, { since: from, selector }, signal, (revisions) => {
      for (const id of revisions.keys()) open.delete(id);
    });
  if (place !== undefined && open.size > MOST_ASKED) await withoutMatching();
  if (place === undefined || open.size > MOST_ASKED) return undefined;
  const ids = [...open.keys()];
  const matches = await Promise.all(ids.map((id) => isMatching(database, id, selector, signal)));
  const staying = new Set(ids.filter((_, at) => matches[at]));
  if (matches.includes(undefined)) await withoutMatching();
  const left = [...open].flatMap(([id, version]) =>
    staying.has(id) ? [] : [{ id, version, left: true }],
  );
  const isLate = [...pushed.keys()].some((id) => !shown.has(id) || staying.has(id));
  return { left, place, seen, isLate };
}

/** @returns where it has come to; `undefined`: there is too much. */
async function eachChange(
  database: CouchDatabase,
  place: Place,
  signal: AbortSignal,
  take: (revisions: ChangedIds['revisions']) => Promise<void> | void,
): Promise<Sequence | undefined> {
  let { since } = place;
  for (let count = 0; count < MOST_CHANGED; ) {
    const answer = await database.changedIds({ ...place, since }, IDS_AT_ONCE, signal);
    await take(answer.revisions);
    since = answer.lastSeq;
    if (answer.count < IDS_AT_ONCE) return since;
    count += answer.count;
  }
  return undefined;
}

/** @returns `undefined` from a server without queries: one node, as a rule, whose feeds agree. */
function isMatching(
  database: CouchDatabase,
  id: string,
  selector: JsonObject,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  return database.matches(id, selector, signal).catch((error: unknown) => {
    if (error instanceof RefusedError && [404, 405, 501].includes(error.status)) return undefined;
    throw error;
  });
}
