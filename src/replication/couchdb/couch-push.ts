import { isPlainObject } from '../../codec/kinds.ts';
import { ValueError } from '../../errors/value-error.ts';
import { blameless } from '../fetching/answer-errors.ts';
import { batchesOf, encodeRows, type SendableRow } from '../fetching/push-batches.ts';
import { sameContent } from '../merge/same-content.ts';
import type { LocalChange, PushResult } from '../protocol/remote.ts';
import type { EditResult } from './couch-answers.ts';
import type { CouchDatabase } from './couch-database.ts';
import {
  type CouchDocument,
  type CouchEdit,
  fromCouch,
  pushKeyOf,
  storedKey,
  toCouch,
} from './couch-documents.ts';
import { ABSENT, hasAttachments, revisionOf, versionOf } from './revisions.ts';

type Sendable = SendableRow<CouchEdit>;

/** What a database says of a document that it will not take in the same form later either. */
const FINAL: ReadonlySet<string> = new Set([
  'forbidden',
  'unauthorized',
  'bad_request',
  'doc_validation',
  'illegal_docid',
  'document_too_large',
]);

/** Pushes rows by compare-and-set of their revisions; one result for each. */
export async function pushRows(
  database: CouchDatabase,
  rows: readonly LocalChange[],
  signal: AbortSignal,
): Promise<PushResult[]> {
  const attachments = await findAttachments(database, rows, signal);
  const { sendable, results } = encodeRows(rows, (row) => encode(row, attachments.get(row.id)));
  const stale: Sendable[] = [];
  for (const batch of batchesOf(sendable))
    for (const [at, made] of (await write(database, batch, signal)).entries()) {
      const one = batch[at] as Sendable;
      if ('revision' in made)
        results[one.index] = {
          version: versionOf(made.revision, one.wire._attachments !== undefined),
        };
      else if (made.error === 'conflict') stale.push(one);
      else {
        const reason = `${made.error}: ${made.reason}`;
        const retry = !FINAL.has(made.error);
        results[one.index] = { rejected: { reason, ...(retry && { retry }) } };
      }
    }
  const present = await database.present(
    stale.map(({ row }) => row.id),
    signal,
  );
  for (const { index, row } of stale) results[index] = compare(row, present.get(row.id));
  return results;
}

/**
 * The stubs of the attachments of documents that have some: an update without them deletes them.
 */
async function findAttachments(
  database: CouchDatabase,
  rows: readonly LocalChange[],
  signal: AbortSignal,
): Promise<Map<string, unknown>> {
  const revisions = rows.flatMap(({ id, base, document }) =>
    document && hasAttachments(base) ? [{ id, rev: revisionOf(base) as string }] : [],
  );
  const found = new Map<string, unknown>();
  for (const [id, [body]] of await database.bodies(revisions, signal))
    if (isPlainObject(body?._attachments)) found.set(id, body._attachments);
  return found;
}

/** @throws {ValueError} for what CouchDB cannot take; {TooLong} */
function encode({ id, base, document, key }: LocalChange, attachments: unknown): CouchEdit {
  if (id.startsWith('_')) {
    const why = 'CouchDB takes no _id that begins with "_", except those of design documents.';
    throw new ValueError('id_invalid', why, { place: id });
  }
  const revision = revisionOf(base);
  return toCouch(id, document, { revision, key: storedKey(key, revision), attachments });
}

async function write(
  database: CouchDatabase,
  batch: readonly Sendable[],
  signal: AbortSignal,
): Promise<EditResult[]> {
  try {
    return await database.write(
      batch.map(({ wire }) => wire),
      signal,
    );
  } catch (error) {
    throw blameless(error);
  }
}

/** Why a row was refused: others have changed the document, or the push had been made and its answer was lost. */
function compare(row: LocalChange, present: CouchDocument | undefined): PushResult {
  const { id, document } = row;
  const change = present ? fromCouch(present) : { id, version: ABSENT, document: undefined };
  if (!document && !change.document) return { version: change.version };
  const isMade = present !== undefined && pushKeyOf(present) === row.key;
  if (!isMade || !document || !change.document) return { conflict: change };
  const { version, document: newest } = change;
  return sameContent(document, newest) ? { version } : { version, document: newest };
}
