import { asArray, asInteger, asObject, asString } from '../../codec/exact-json/json-checks.ts';
import { asId, asToken, documentField } from '../../codec/exact-json/wire-changes.ts';
import { encodeDocument, type WireDocument } from '../../codec/exact-json/wire-documents.ts';
import { Malformed } from '../../errors/errors.ts';
import type { Operation } from '../../query/update/late-update.ts';
import { DEFAULT_LIMIT, MAX_LIMIT } from './http-fields.ts';
import type { LocalChange } from './remote.ts';

/** A row of `POST {url}/push`. */
export interface WireRow {
  readonly id: string;
  readonly base: string | null;
  readonly key: string;
  readonly document?: WireDocument;
  readonly deleted?: true;
  /** As {@link LocalChange.operations}, operands encoded as values of a document. */
  readonly operations?: readonly unknown[];
  /** As {@link LocalChange.device}. */
  readonly device?: string;
}

/** Body of `POST {url}/watch`. */
export interface WatchRequest {
  readonly after: string;
}

/** A collection of a stream, and where it begins. */
export interface StreamRequest {
  readonly name: string;
  readonly after: string;
  /** A part of the collection; not checked yet. */
  readonly scope?: unknown;
}

export interface ReceivedRow {
  readonly id: string;
  readonly base: string | undefined;
  readonly key: string;
  /** Not checked yet: a defect of one document rejects its row only. `undefined`: deleted. */
  readonly document: unknown;
  /** Not checked yet either. */
  readonly operations: unknown;
  readonly device: string | undefined;
}

/**
 * A row of a push.
 *
 * @throws {ValueError} for a document that JSON cannot carry.
 */
export function toWireRow({ id, base, key, document, operations, device }: LocalChange): WireRow {
  const row = { id, base: base ?? null, key };
  if (!document) return { ...row, deleted: true };
  return {
    ...{ ...row, document: encodeDocument(document) },
    ...(operations && { operations: encodeOperations(operations) }),
    ...(device !== undefined && { device }),
  };
}

function encodeOperations(operations: readonly Operation[]): readonly unknown[] {
  return encodeDocument({ operations }).operations as readonly unknown[];
}

/**
 * The body of `POST {url}/pull`: `{ after, limit, scope }`; `after: null` is from the start.
 *
 * @throws {Malformed}
 */
export function readPullRequest(body: unknown): {
  readonly after: string | undefined;
  readonly limit: number;
  /** Not checked yet. */
  readonly scope: unknown;
} {
  const { after, limit = DEFAULT_LIMIT, scope } = asObject(body, 'the body');
  if (asInteger(limit, '"limit"', 1) > MAX_LIMIT) {
    throw new Malformed(`"limit" is over ${MAX_LIMIT}`);
  }
  return { after: optionalToken(after, '"after"'), limit: limit as number, scope };
}

/**
 * The body of `POST {url}/push`: `{ rows }`.
 *
 * @throws {Malformed}
 */
export function readPushRequest(body: unknown): ReceivedRow[] {
  const { rows } = asObject(body, 'the body');
  return asArray(rows, '"rows"').map((value) => {
    const row = asObject(value, 'a row');
    return {
      id: asId(row.id),
      base: optionalToken(row.base, '"base"'),
      key: asToken(asString(row.key, '"key"'), '"key"'),
      ...{ document: documentField(row), operations: row.operations },
      device: optionalToken(row.device, '"device"'),
    };
  });
}

/** @throws {Malformed} */
export function readWatchRequest(body: unknown): WatchRequest {
  return { after: asToken(asObject(body, 'the body').after, '"after"') };
}

/** Most collections of a stream; each scope counts as one. */
export const MOST_STREAMED = 100;

/**
 * The body of `POST {url}/stream`: `{ collections: [{ name, after, scope }] }`.
 *
 * @throws {Malformed}
 */
export function readStreamRequest(body: unknown): StreamRequest[] {
  const list = asArray(asObject(body, 'the body').collections, '"collections"');
  if (list.length === 0 || list.length > MOST_STREAMED)
    throw new Malformed(`"collections" has not 1 to ${MOST_STREAMED}`);
  return list.map((value) => {
    const { name, after, scope } = asObject(value, 'a collection');
    return { name: asString(name, '"name"'), after: asToken(after, '"after"'), scope };
  });
}

function optionalToken(value: unknown, name: string): string | undefined {
  return value === undefined || value === null ? undefined : asToken(value, name);
}
