import { capture } from '../../codec/capture.ts';
import type { JsonObject } from '../../codec/exact-json/json-checks.ts';
import { encodeDocument } from '../../codec/exact-json/wire-documents.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { Malformed } from '../../errors/errors.ts';
import type { RemoteChange } from '../protocol/remote.ts';
import {
  decodeExactValue,
  type ExactValues,
  hashJson,
  type RestoredValues,
  restoreExact,
  restorePlaced,
  takeExact,
} from './exact-values.ts';
import { generationOf, nextGeneration, versionOf } from './revisions.ts';

export type CouchDocument = JsonObject & { readonly _id: string; readonly _rev: string };

export type CouchEdit = JsonObject & { readonly _id: string };

/** What Cairn adds to a document, as CouchDB refuses names that begin with `_`. */
interface CairnPart {
  /**
   * Idempotency key of the push that made the state, between the generation of its revision and a
   * hash of the document: other programs copy documents, restore older ones, and change some
   * without a change of this.
   */
  readonly key?: string;
  /** Fields whose names begin with `_`, or are `$cairn`. */
  readonly fields?: JsonObject;
  /** Values outside JSON, and what stands for them. */
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
    ...(Object.keys(hidden).length > 0 && {
      fields: (encodeDocument({ _id: id, hidden }) as JsonObject).hidden as JsonObject,
    }),
    ...(exact && { exact }),
  };
  const signed =
    key === undefined ? part : { key: keyField(id, json, part, key, revision), ...part };
  return {
    ...json,
    _id: id,
    ...(revision !== undefined && { _rev: revision }),
    ...(!document && { _deleted: true }),
    ...(attachments !== undefined && { _attachments: attachments }),
    ...(Object.keys(signed).length > 0 && { [PART]: signed }),
  };
}

/**
 * The state of a document, which others may have written.
 *
 * @throws {Malformed} for one that no collection can hold.
 */
export function fromCouch(couch: CouchDocument): RemoteChange {
  const { _id: id, _rev: revision, _deleted, _attachments } = couch;
  const part = partOf(couch);
  if (_deleted === true)
    return { id, version: revision, document: undefined, ...keyOf(couch, part, {}) };
  const json = withoutMeta(couch, part);
  const { document, lost, isDeep } = restored(json, part, revision);
  const { fields, isWhole } = hiddenFields(part);
  const own = { _id: id, ...document, ...fields };
  if (isDeep) checkDepth(own);
  const defects = [
    ...(lost.length > 0 ? [`nothing tells what ${lost.join(', ')} stood for`] : []),
    ...(isWhole ? [] : ['fields whose names begin with "_" are damaged']),
  ];
  return {
    ...{ id, version: versionOf(revision, isPlainObject(_attachments)), document: own },
    ...keyOf(couch, part, json),
    ...(defects.length > 0 && { defect: defects.join('; ') }),
  };
}

/** The key of the push that a state descends from, though others may have changed it since. */
export function pushKeyOf(couch: CouchDocument): string | undefined {
  return splitKey(partOf(couch))?.key;
}

function restored(json: JsonObject, part: CairnPart | undefined, revision: string): RestoredValues {
  const exact = isPlainObject(part?.exact) ? (part.exact as JsonObject) : {};
  if (!Object.hasOwn(exact, 'paths')) return restoreExact(json, exact);
  const generation = Number.parseInt(String(part?.key), 10);
  return restorePlaced(json, exact, generation === generationOf(revision));
}

/**
 * What a collection stores is checked there; this one rejects a document instead of all. @throws
 * {Malformed}
 */
function checkDepth(document: object): void {
  try {
    capture(document, 'document');
  } catch (error) {
    throw new Malformed((error as Error).message);
  }
}

function keyField(
  id: string,
  json: JsonObject,
  part: CairnPart,
  key: string,
  base: string | undefined,
): string {
  return `${nextGeneration(base)} ${key} ${hashJson([id, json, part])}`;
}

/**
 * The key, if no other program has written the document since: the client that pushed it takes the
 * state for its own.
 */
function keyOf(
  { _id: id, _rev: revision }: CouchDocument,
  part: CairnPart | undefined,
  json: JsonObject,
): { readonly key?: string } {
  const { generation, key, hash } = splitKey(part) ?? {};
  if (key === undefined || generation !== generationOf(revision)) return {};
  const { key: _, ...others } = part as CairnPart;
  return hash === hashJson([id, json, others]) ? { key } : {};
}

function splitKey(part: CairnPart | undefined) {
  const [, generation, key, hash] =
    /^(\d+) ([\x21-\x7e]{1,200})(?: ([0-9a-f]{8}))?$/.exec(String(part?.key)) ?? [];
  return key === undefined ? undefined : { generation: Number(generation), key, hash };
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
function hiddenFields(part: CairnPart | undefined): {
  readonly fields: JsonObject;
  readonly isWhole: boolean;
} {
  const given = part?.fields;
  if (given === undefined) return { fields: {}, isWhole: true };
  const hidden = decodeExactValue(given)?.value;
  if (!isPlainObject(hidden)) return { fields: {}, isWhole: false };
  const { _id, ...fields } = hidden;
  return { fields, isWhole: true };
}
