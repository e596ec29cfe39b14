import { TooLong } from '../../codec/exact-json/exact-encoding.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { Malformed, ValueError } from '../../errors/errors.ts';
import { blameless, OversizedAnswer } from '../fetching/answer-errors.ts';
import { batchesOf, encodeRows, type SendableRow } from '../fetching/push-batches.ts';
import { sameContent } from '../merge-fields.ts';
import type { LocalChange, PushResult, Remote, RemoteChange } from '../protocol/remote.ts';
import type { EditResult } from './couch-answers.ts';
import type { CouchDatabase } from './couch-database.ts';
import {
  type CouchDocument,
  type CouchEdit,
  fromCouch,
  pushKeyOf,
  toCouch,
} from './couch-documents.ts';
import { type AttachedFile, type Attachments, attachmentsOf } from './couch-files.ts';
import {
  generationOf,
  hasAttachments,
  isRevision,
  NO_REVISION,
  nextGeneration,
  revisionOf,
  versionOf,
} from './revisions.ts';

type Sendable = SendableRow<CouchEdit>;
type PushAsk = Parameters<Remote['push']>[1];

/** What a database says of a document that it will not take in the same form later either. */
const FINAL: ReadonlySet<string> = new Set([
  'forbidden',
  'unauthorized',
  'bad_request',
  'doc_validation',
  'illegal_docid',
  'document_too_large',
]);

/** The documents in conflict are too many for one answer. */
const LATER: PushResult = {
  rejected: { reason: 'Too many documents have changed: the others come by a pull.', retry: true },
};
const TOO_LARGE: PushResult = { rejected: { reason: "The server's document is too large." } };

/** Pushes rows by compare-and-set of their revisions; one result for each. */
export async function pushRows(
  database: CouchDatabase,
  rows: readonly LocalChange[],
  { signal, content }: PushAsk,
): Promise<PushResult[]> {
  const { attachments: stubs, unread } = await findAttachments(database, rows, signal);
  const attached = new Map<LocalChange, Attachments>();
  for (const row of rows) attached.set(row, await attachmentsOf(row, stubs.get(row.id), content));
  const { sendable, results } = encodeRows(rows, (row) => {
    if (unread.has(row.id)) throw new TooLong();
    return encode(row, attached.get(row));
  });
  const filesOf = ({ row }: Sendable) => attached.get(row)?.sent ?? [];
  /** @returns those that are refused as their base is not the newest revision. */
  const send = async (all: readonly Sendable[]): Promise<Sendable[]> => {
    const stale: Sendable[] = [];
    const batches = [
      ...batchesOf(all.filter((one) => filesOf(one).length === 0)),
      ...all.filter((one) => filesOf(one).length > 0).map((one) => [one]),
    ];
    for (const batch of batches)
      for (const [at, made] of (await write(database, batch, filesOf, signal)).entries()) {
        const one = batch[at] as Sendable;
        if ('error' in made && made.error === 'conflict') stale.push(one);
        else results[one.index] = resultOf(made, one.wire);
      }
    return stale;
  };
  const refused = await send(sendable);
  const conflicting = refused.map(({ row }) => row);
  const { asked, present } = await presentOf(database, conflicting, signal);
  // CouchDB makes no document anew of its tombstone's revision, only without any.
  const isAnew = ({ row: { id, base, document } }: Sendable) => {
    const { _rev, _deleted }: Partial<CouchDocument> = present?.get(id) ?? {};
    return document !== undefined && _deleted === true && _rev === revisionOf(base);
  };
  const stale = [
    ...refused.filter((one) => !isAnew(one)),
    ...(await send(refused.filter(isAnew).map((one) => ({ ...one, wire: asNew(one.wire) })))),
  ];
  const made = await findMade(database, asked, present ?? new Map(), signal);
  for (const { index, row } of stale) {
    if (!asked.includes(row)) results[index] = LATER;
    else if (!present) results[index] = TOO_LARGE;
    else results[index] = compare(row, present.get(row.id), made.get(row.id));
  }
  return results;
}

function resultOf(made: EditResult, wire: CouchEdit): PushResult {
  if ('revision' in made)
    return { version: versionOf(made.revision, wire._attachments !== undefined) };
  const retry = !FINAL.has(made.error);
  return { rejected: { reason: `${made.error}: ${made.reason}`, ...(retry && { retry }) } };
}

function asNew({ _rev: _, ...edit }: CouchEdit): CouchEdit {
  return edit as CouchEdit;
}

/**
 * The stubs of the attachments of documents that have some: an update without them deletes them.
 * `unread` has the ids of documents that are too large for an answer.
 */
async function findAttachments(
  database: CouchDatabase,
  rows: readonly LocalChange[],
  signal: AbortSignal,
): Promise<{ readonly attachments: Map<string, unknown>; readonly unread: Set<string> }> {
  const revisions = rows.flatMap(({ id, base, document }) =>
    document && hasAttachments(base) ? [{ id, rev: revisionOf(base) as string }] : [],
  );
  const attachments = new Map<string, unknown>();
  const unread = new Set<string>();
  const bodies = await database.bodies(revisions, signal, { onLarge: (id) => unread.add(id) });
  for (const [id, [body]] of bodies)
    if (isPlainObject(body?._attachments)) attachments.set(id, body._attachments);
  return { attachments, unread };
}

/**
 * The documents that rows conflict with, of as many rows as one answer takes; `present` is missing
 * where one is too large.
 */
async function presentOf(
  database: CouchDatabase,
  rows: readonly LocalChange[],
  signal: AbortSignal,
): Promise<{
  readonly asked: readonly LocalChange[];
  readonly present: ReadonlyMap<string, CouchDocument> | undefined;
}> {
  for (let asked = rows; ; asked = asked.slice(0, Math.ceil(asked.length / 2))) {
    const ids = asked.map(({ id }) => id);
    try {
      return { asked, present: await database.present(ids, signal) };
    } catch (error) {
      if (!(error instanceof OversizedAnswer)) throw error;
      if (asked.length === 1) return { asked, present: undefined };
    }
  }
}

/** @throws {ValueError} for what CouchDB cannot take; {TooLong} */
function encode(
  { id, base, document, key }: LocalChange,
  { field: attachments, damage }: Partial<Attachments> = {},
): CouchEdit {
  if (damage !== undefined) throw new ValueError('value_unsupported', damage, { place: id });
  if (id.startsWith('_')) {
    const why = 'CouchDB takes no _id that begins with "_", except those of design documents.';
    throw new ValueError('id_invalid', why, { place: id });
  }
  const revision = revisionOf(base);
  return toCouch(id, document, { revision, key, attachments });
}

async function write(
  database: CouchDatabase,
  batch: readonly Sendable[],
  filesOf: (one: Sendable) => readonly AttachedFile[],
  signal: AbortSignal,
): Promise<EditResult[]> {
  const [first] = batch;
  const files = first ? filesOf(first) : [];
  try {
    if (first && files.length > 0)
      return [await database.writeWithFiles(first.wire, files, signal)];
    return await database.write(
      batch.map(({ wire }) => wire),
      signal,
    );
  } catch (error) {
    throw blameless(error);
  }
}

/**
 * Why a row was refused: others have changed the document, or the push had been made and its answer
 * was lost.
 */
function compare(
  row: LocalChange,
  present: CouchDocument | undefined,
  made: string | undefined,
): PushResult {
  const { id, document } = row;
  let change: RemoteChange = { id, version: NO_REVISION, document: undefined };
  try {
    if (present) change = fromCouch(present);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    return { rejected: { reason: `The server's document is invalid: ${error.message}.` } };
  }
  const { version, document: newest } = change;
  if (!document && !newest) return { version };
  if (made === undefined) return { conflict: change };
  // As it was answered at first: that somebody has deleted it since comes with the next pull.
  if (!newest) return { version: made };
  return sameContent(document, newest) ? { version } : { version, document: newest };
}

/**
 * The revisions that rows have made though they are refused now, by id. Where another program has
 * written the document since, its history tells: the revision behind that of the row's base.
 */
async function findMade(
  database: CouchDatabase,
  rows: readonly LocalChange[],
  present: ReadonlyMap<string, CouchDocument>,
  signal: AbortSignal,
): Promise<Map<string, string>> {
  const made = new Map<string, string>();
  const keys = new Map(rows.map(({ id, key }) => [id, key]));
  const note = (found: ReadonlyMap<string, readonly CouchDocument[]>) => {
    for (const [id, documents] of found)
      for (const one of documents)
        if (pushKeyOf(one) === keys.get(id))
          made.set(id, versionOf(one._rev, isPlainObject(one._attachments)));
  };
  note(new Map([...present].map(([id, document]) => [id, [document]])));
  const open = rows.flatMap(({ id, base }) => {
    const { _rev: rev } = present.get(id) ?? {};
    const isLater = rev !== undefined && generationOf(rev) > nextGeneration(revisionOf(base));
    return isLater && !made.has(id) ? [{ id, rev }] : [];
  });
  const histories = await database.bodies(open, signal, { revs: true });
  const steps = rows.flatMap(({ id, base }) => {
    const rev = revisionAfter(revisionOf(base), histories.get(id)?.[0]?._revisions);
    return rev === undefined ? [] : [{ id, rev }];
  });
  // A database that was compacted has no bodies of them: then others have changed the document.
  note(await database.bodies(steps, signal));
  return made;
}

/**
 * The revision that follows another one in a history, which is newest first; without a base it is
 * the first.
 */
function revisionAfter(base: string | undefined, history: unknown): string | undefined {
  const { start, ids } = (isPlainObject(history) ? history : {}) as Record<string, unknown>;
  if (typeof start !== 'number' || !Array.isArray(ids)) return undefined;
  const generation = nextGeneration(base);
  const rev = `${generation}-${ids[start - generation]}`;
  return isRevision(rev) ? rev : undefined;
}
