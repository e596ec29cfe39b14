import { asArray, asObject, type JsonObject } from '../../codec/exact-json/json-checks.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { Malformed } from '../../errors/errors.ts';
import type { Refusal } from '../fetching/answer-errors.ts';
import type { RefusedRow } from '../protocol/remote.ts';
import type { CouchDocument } from './couch-documents.ts';
import { isRevision } from './revisions.ts';

/** A sequence number: a string or number, opaque. */
export type Sequence = string | number;

/** The newest state of a document in `_changes`. */
export interface ChangeRow {
  readonly document: CouchDocument;
  /** Leaves of other branches, which are not deleted. */
  readonly conflicts: readonly string[];
}

/** Answer of `_changes`. */
export interface ChangesAnswer {
  readonly rows: readonly ChangeRow[];
  /** Rows in the answer, with those that are left out. */
  readonly count: number;
  readonly lastSeq: Sequence;
  /** Left out by older servers. */
  readonly pending: number | undefined;
  /** Documents that are too large for an answer. */
  readonly rejected?: readonly RefusedRow[];
}

/** Result of one edit in `_bulk_docs`. */
export type EditResult =
  | { readonly revision: string }
  | { readonly error: string; readonly reason: string };

/** @throws {Malformed} */
export function readChanges(body: unknown, limit: number): ChangesAnswer {
  const { results, last_seq: lastSeq, pending } = asObject(body, 'the answer');
  const list = asArray(results, '"results"');
  if (list.length > limit) throw new Malformed('"results" has more than were requested');
  if (!isSequence(lastSeq)) throw new Malformed('"last_seq" is no string or number');
  const rows = list.map((row) => readRow(asObject(row, 'a row')));
  return {
    rows: rows.filter(({ document }) => !document._id.startsWith('_design/')),
    count: list.length,
    lastSeq,
    pending: typeof pending === 'number' ? pending : undefined,
  };
}

/** A part of the changes without their documents. */
export interface ChangedIds {
  /** The newest revisions, by id; without deleted documents. */
  readonly revisions: ReadonlyMap<string, string>;
  readonly count: number;
  readonly lastSeq: Sequence;
}

/** @throws {Malformed} */
export function readIds(body: unknown): ChangedIds {
  const { results, last_seq: lastSeq } = asObject(body, 'the answer');
  const list = asArray(results, '"results"');
  if (!isSequence(lastSeq)) throw new Malformed('"last_seq" is no string or number');
  const revisions = new Map<string, string>();
  for (const row of list as JsonObject[]) {
    const { document } = readRow({ ...asObject(row, 'a row'), doc: undefined, deleted: true });
    const { _id: id, _rev: revision } = document;
    if (row.deleted !== true && !id.startsWith('_design/')) revisions.set(id, revision);
  }
  return { revisions, count: list.length, lastSeq };
}

/** Whether a query has found a document. @throws {Malformed} */
export function readFound(body: unknown): boolean {
  return asArray(asObject(body, 'the answer').docs, '"docs"').length > 0;
}

/** A row without its document, which is too large. @throws {Malformed} */
export function readLarge(body: unknown): ChangesAnswer {
  const { results } = asObject(body, 'the answer');
  const rows = asArray(results, '"results"').map((row) => ({
    ...asObject(row, 'a row'),
    deleted: true,
  }));
  const answer = readChanges({ ...(body as JsonObject), results: rows }, 1);
  const rejected = answer.rows.map(({ document: { _id: id } }) => ({
    ...{ id, reason: 'The document is too large.' },
  }));
  return { ...answer, rows: [], rejected };
}

/** @throws {Malformed} */
export function readRinging(body: unknown): boolean {
  return asArray(asObject(body, 'the answer').results, '"results"').length > 0;
}

/** @param ids Of the edits. @throws {Malformed} */
export function readEdits(body: unknown, ids: readonly string[]): EditResult[] {
  const list = asArray(body, 'the answer');
  if (list.length !== ids.length) throw new Malformed('it has not one result for each document');
  return list.map((item, index) => {
    const { id, rev, error, reason } = asObject(item, 'a result');
    if (id !== ids[index]) throw new Malformed('a result is of another document');
    if (typeof error === 'string')
      return { error, reason: typeof reason === 'string' ? reason.slice(0, 1000) : error };
    if (!isRevision(rev)) throw new Malformed('a result has no revision');
    return { revision: rev };
  });
}

/** @param ids In the order of the request. @throws {Malformed} */
export function readPresent(body: unknown, ids: readonly string[]): Map<string, CouchDocument> {
  const rows = asArray(asObject(body, 'the answer').rows, '"rows"');
  if (rows.length !== ids.length) throw new Malformed('it has not one row for each document');
  const present = new Map<string, CouchDocument>();
  for (const [index, item] of rows.entries()) {
    const { key, error, value, doc } = asObject(item, 'a row');
    const id = ids[index] as string;
    if (key !== id) throw new Malformed('a row is of another document');
    if (error !== undefined) continue;
    if (typeof doc === 'object' && doc !== null) {
      present.set(id, readDocument(doc as JsonObject, id));
      continue;
    }
    const { rev, deleted } = asObject(value, '"value"');
    if (deleted !== true) throw new Malformed(`the row of "${id.slice(0, 100)}" has no document`);
    present.set(id, readDocument({ _id: id, _rev: rev, _deleted: true }, id));
  }
  return present;
}

/** @param ids Of the request. @throws {Malformed} */
export function readBodies(body: unknown, ids: ReadonlySet<string>): CouchDocument[] {
  return asArray(asObject(body, 'the answer').results, '"results"').flatMap((item) => {
    const { id, docs } = asObject(item, 'a result');
    if (!ids.has(id as string)) throw new Malformed('a result is of another document');
    return asArray(docs, '"docs"').flatMap((each) => {
      const { ok } = asObject(each, 'a document');
      return ok === undefined ? [] : [readDocument(asObject(ok, 'a document'), id as string)];
    });
  });
}

/** The name of a history. @throws {Malformed} */
export function readMark(body: unknown): string {
  const { history } = asObject(body, 'the answer');
  return typeof history === 'string' ? history.slice(0, 100) : '';
}

/** When a database was created, if the server says. @throws {Malformed} */
export function readStart(body: unknown): string {
  const { instance_start_time: time } = asObject(body, 'the answer');
  return typeof time === 'string' || typeof time === 'number' ? String(time).slice(0, 100) : '';
}

/** Whether the database knows all revisions of a request. @throws {Malformed} */
export function readKnown(body: unknown, asked: SeenDocuments): boolean {
  const missing = asObject(body, 'the answer');
  return !asked.some(([id]) => Object.hasOwn(missing, id));
}

/** The reason of a failed request. */
export function readRefusal(body: unknown): Refusal | undefined {
  const { error, reason } = (typeof body === 'object' && body !== null ? body : {}) as JsonObject;
  if (typeof error !== 'string') return undefined;
  return { code: error.slice(0, 100), message: String(reason ?? '').slice(0, 1000) };
}

function isSequence(value: unknown): value is Sequence {
  return (typeof value === 'string' && value.length > 0) || Number.isFinite(value);
}

function readRow({ id, changes, deleted, doc }: JsonObject): ChangeRow {
  if (typeof id !== 'string' || id === '') throw new Malformed('a row has no id');
  if (typeof doc === 'object' && doc !== null) {
    const document = readDocument(doc as JsonObject, id);
    const { _conflicts: conflicts = [] } = document;
    if (!Array.isArray(conflicts) || !conflicts.every(isRevision))
      throw new Malformed('"_conflicts" has something else than revisions');
    return { document, conflicts };
  }
  if (deleted !== true) throw new Malformed(`the row of "${id.slice(0, 100)}" has no document`);
  const { rev } = asObject(asArray(changes, '"changes"')[0], 'a change');
  if (!isRevision(rev)) throw new Malformed('a change has no revision');
  return { document: { _id: id, _rev: rev, _deleted: true }, conflicts: [] };
}

function readDocument(document: JsonObject, id: string): CouchDocument {
  if (document._id !== id) throw new Malformed('a row has the document of another');
  if (!isRevision(document._rev))
    throw new Malformed(`the document "${id.slice(0, 100)}" has no revision`);
  return document as CouchDocument;
}

/** Documents and their revisions, the newest last. */
export type SeenDocuments = readonly (readonly [id: string, revision: string])[];

/** A place in the changes of a database, and what these changes are known by. */
export interface CouchCheckpoint {
  /** The `last_seq` as the server gave it. */
  readonly since: Sequence;
  /** What names the history of the database. */
  readonly database: string;
  /**
   * What was before that place: a database that was restored or created anew does not know it.
   * Several, as other devices may have pushed one again, and shards send theirs in any order.
   */
  readonly seen?: SeenDocuments;
  /** Hash of the selector that chose the changes. */
  readonly selector?: string;
  /** With a selector: the place in all changes up to which those that have left are known. */
  readonly left?: Sequence;
}

/** @returns `undefined` for what is no checkpoint of this remote. */
export function readCheckpoint(value: unknown): CouchCheckpoint | undefined {
  if (!isPlainObject(value)) return undefined;
  const { since, database, seen, selector, left } = value;
  if (!isSequence(since) || typeof database !== 'string') return undefined;
  const isWhole = selector === undefined;
  if (!isWhole && (typeof selector !== 'string' || !isSequence(left))) return undefined;
  const place = { since, database, ...(!isWhole && { selector, left: left as Sequence }) };
  if (seen === undefined) return place;
  if (!Array.isArray(seen)) return undefined;
  // Earlier versions of Cairn have named one.
  const all = (typeof seen[0] === 'string' ? [seen] : seen) as unknown[];
  const areSeen = all.every(
    (one) => Array.isArray(one) && typeof one[0] === 'string' && isRevision(one[1]),
  );
  return areSeen ? { ...place, seen: all as unknown as SeenDocuments } : undefined;
}
