import { type JsonObject, Malformed } from '../../codec/exact-json/json-checks.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import type { RemoteChange } from '../protocol/remote.ts';
import { decodeDocument, encodeDocument } from '../protocol/wire-documents.ts';
import { type ExactValues, restoreExact, takeExact } from './exact-values.ts';
import { generationOf, versionOf } from './revisions.ts';

/** A document of CouchDB as JSON. */
export type CouchDocument = JsonObject & { readonly _id: string; readonly _rev: string };

/** A document to be written. */
export type CouchEdit = JsonObject & { readonly _id: string };

/** What Cairn adds to a document: CouchDB refuses names that begin with `_`, and JSON keeps not all values. */
interface CairnPart {
  /** Idempotency key of the push that made the state. */
  readonly key?: string;
  /** Fields whose names begin with `_`, or are `$cairn`. */
  readonly fields?: JsonObject;
  /** Values outside JSON, and where they belong. */
  readonly exact?: ExactValues;
}

const PART = '$cairn';

/** The part that a write adds to the document. */
export interface Edit {
  readonly revision?: string | undefined;
  readonly key?: string | undefined;
  /** Stubs of the attachments, which an update without them would delete. */
  readonly attachments?: unknown;
}

/**
 * A document for `_bulk_docs`.
 *
 * @param document `undefined`: deletes.
 * @throws {ValueError} for a Blob.
 * @throws {TooLong}
 */
export function toCouch(id: string, document: object | undefined, edit: Edit): CouchEdit {
  const { revision, key, attachments } = edit;
  const entries = Object.entries(document ?? {}).filter(([name]) => name !== '_id');
  const isHidden = ([name]: readonly [string, unknown]) => name.startsWith('_') || name === PART;
  const hidden = Object.fromEntries(entries.filter(isHidden));
  const { json, exact } = takeExact(Object.fromEntries(entries.filter((one) => !isHidden(one))));
  const part: CairnPart = {
    ...(key !== undefined && { key }),
    ...(Object.keys(hidden).length > 0 && {
      fields: (encodeDocument({ _id: id, hidden }) as JsonObject).hidden as JsonObject,
    }),
    ...(exact && { exact }),
  };
  return {
    ...json,
    _id: id,
    ...(revision !== undefined && { _rev: revision }),
    ...(!document && { _deleted: true }),
    ...(attachments !== undefined && { _attachments: attachments }),
    ...(Object.keys(part).length > 0 && { [PART]: part }),
  };
}

/** The state of a document, which others may have written. */
export function fromCouch(couch: CouchDocument): RemoteChange {
  const { _id: id, _rev: revision, _deleted, _attachments } = couch;
  const part = partOf(couch);
  const key = newestKey(part, revision);
  const state = { id, ...(key !== undefined && { key }) };
  if (_deleted === true) return { ...state, version: revision, document: undefined };
  const document = {
    ...{ _id: id, ...withoutMeta(couch, part) },
    ...(part && hiddenFields(part, id)),
  };
  return {
    ...state,
    version: versionOf(revision, isPlainObject(_attachments)),
    document: part?.exact ? restoreExact(document, part.exact) : document,
  };
}

/** The key of the push that a state descends from, though others may have changed it since. */
export function pushKeyOf(couch: CouchDocument): string | undefined {
  const key = partOf(couch)?.key;
  return typeof key === 'string' ? key.replace(/^\d+ /, '') : undefined;
}

/** The key as it is stored: with the generation of the state that it makes. */
export function storedKey(key: string, base: string | undefined): string {
  return `${base === undefined ? 1 : generationOf(base) + 1} ${key}`;
}

/**
 * The key, if no other program has changed the document since and kept what Cairn had written: the client that pushed
 * it would take the state for its own.
 */
function newestKey(part: CairnPart | undefined, revision: string): string | undefined {
  const [, generation, key] = /^(\d+) ([\x20-\x7e]{1,200})$/.exec(String(part?.key)) ?? [];
  return Number(generation) === generationOf(revision) ? key : undefined;
}

function partOf(couch: CouchDocument): CairnPart | undefined {
  const part = Object.hasOwn(couch, PART) ? couch[PART] : undefined;
  if (!isPlainObject(part)) return undefined;
  const known = ['key', 'fields', 'exact'];
  return Object.keys(part).every((name) => known.includes(name)) ? part : undefined;
}

/** The user's fields. What is not of Cairn under its name is one of them. */
function withoutMeta(couch: CouchDocument, part: CairnPart | undefined): JsonObject {
  return Object.fromEntries(
    Object.entries(couch).filter(([name]) => !name.startsWith('_') && !(part && name === PART)),
  );
}

/** Damaged ones are left out: one document must not stop all others. */
function hiddenFields({ fields }: CairnPart, id: string): JsonObject {
  if (fields === undefined) return {};
  try {
    const { hidden } = decodeDocument({ _id: id, hidden: fields }, id) as { hidden: unknown };
    const { _id, ...others } = isPlainObject(hidden) ? hidden : {};
    return others;
  } catch (error) {
    if (error instanceof Malformed) return {};
    throw error;
  }
}
