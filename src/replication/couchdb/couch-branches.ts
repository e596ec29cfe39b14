import type { JsonObject } from '../../codec/exact-json/json-checks.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { Malformed } from '../../errors/errors.ts';
import { ReplicationError } from '../../errors/replication-error.ts';
import { batchesOf, callByHalves } from '../fetching/push-batches.ts';
import { mergeChangedFields, sameContent } from '../merge-fields.ts';
import type { ChangeRow, EditResult } from './couch-answers.ts';
import type { CouchDatabase } from './couch-database.ts';
import { type CouchDocument, type CouchEdit, fromCouch, toCouch } from './couch-documents.ts';
import { compareRevisions } from './revisions.ts';

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
export async function mergeBranches(
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
