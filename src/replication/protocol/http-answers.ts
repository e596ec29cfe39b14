import {
  asArray,
  asInteger,
  asObject,
  asString,
  type JsonObject,
} from '../../codec/exact-json/json-checks.ts';
import {
  asId,
  asToken,
  decodeNamed,
  readChange,
  type WireChange,
} from '../../codec/exact-json/wire-changes.ts';
import type { WireDocument } from '../../codec/exact-json/wire-documents.ts';
import { Malformed } from '../../errors/errors.ts';
import { MAX_LIMIT } from './http-fields.ts';
import type { LocalChange, PulledPage, PushResult, RefusedRow } from './remote.ts';

/** Answer of `POST {url}/pull`. */
export interface PullAnswer {
  readonly changes: readonly WireChange[];
  readonly checkpoint: string;
  readonly more: boolean;
  readonly reset?: boolean;
  /** Whether these are the changes of the requested scope. */
  readonly scoped?: boolean;
  /** Documents that are too large for an answer. */
  readonly rejected?: readonly RefusedRow[];
}

/** A {@link PushResult} as JSON. */
export type WireResult =
  | { readonly version: string; readonly document?: WireDocument | null }
  | { readonly conflict: WireChange }
  | { readonly rejected: { readonly reason: string; readonly retry?: boolean } };

/** Answer of `POST {url}/push`: a result for each row, in the same order. */
export interface PushAnswer {
  readonly results: readonly WireResult[];
}

/** Answer of `POST {url}/watch`. */
export interface WatchAnswer {
  readonly changed: boolean;
}

/** The data of an event of `POST {url}/stream`: changes of one of its collections. */
export interface StreamEvent {
  /** The number of the collection in the request. */
  readonly at: number;
  /** The checkpoint that the changes follow. */
  readonly after: string;
  readonly page: PulledPage<string>;
}

/** Answer of `GET {url}`: what the server can do beyond the first protocol. */
export interface AbilitiesAnswer {
  /** Whether it applies the operations of a push to what it has. */
  readonly operations?: boolean;
  /** Whether it sends changes as a stream of events. */
  readonly stream?: boolean;
  /** Whether the stream has scopes as well. */
  readonly scopedStream?: boolean;
}

/** Body of an answer with status 400 and higher. */
export interface ErrorAnswer {
  readonly error: { readonly code: string; readonly message: string };
}

/** Longest reason that a page shows. */
export const MAX_REASON = 1000;

/**
 * @param limit Of the request: a server that sends more is not ours.
 * @throws {Malformed}
 */
export function readPullAnswer(body: unknown, limit: number, isScoped = false): PulledPage<string> {
  const answer = asObject(body, 'the answer');
  const { changes, checkpoint, more, reset, rejected = [] } = answer;
  if (isScoped && answer.scoped !== true) throw new Malformed('the server knows no scopes');
  const list = asArray(changes, '"changes"');
  if (list.length > limit) throw new Malformed('"changes" has more than were requested');
  if (typeof more !== 'boolean') throw new Malformed('"more" is not true or false');
  if (reset !== undefined && reset !== true) throw new Malformed('"reset" is not true');
  return {
    changes: list.map((change) => readChange(asObject(change, 'a change'))),
    checkpoint: asToken(checkpoint, '"checkpoint"'),
    more,
    ...(reset && { reset }),
    rejected: asArray(rejected, '"rejected"').map(readRejected),
  };
}

function readRejected(value: unknown): RefusedRow {
  const { id, reason } = asObject(value, 'a rejected row');
  return { id: asId(id), reason: asString(reason, '"reason"').slice(0, MAX_REASON) };
}

/**
 * @param rows Of the request.
 * @throws {Malformed}
 */
export function readPushAnswer(body: unknown, rows: readonly LocalChange[]): PushResult[] {
  const results = asArray(asObject(body, 'the answer').results, '"results"');
  if (results.length !== rows.length) throw new Malformed('"results" has not one for each row');
  return rows.map(({ id }, index) => readResult(asObject(results[index], 'a result'), id));
}

/** @throws {Malformed} */
export function readWatchAnswer(body: unknown): WatchAnswer {
  const { changed } = asObject(body, 'the answer');
  if (typeof changed !== 'boolean') throw new Malformed('"changed" is not true or false');
  return { changed };
}

/**
 * How much a server has of a file; `undefined`: it needs no more.
 *
 * @throws {Malformed}
 */
export function readFileAnswer(body: unknown): number | undefined {
  const { received, done } = asObject(body, 'the answer');
  return done === true ? undefined : asInteger(received, '"received"', 0);
}

/** @throws {Malformed} */
export function readStreamEvent(body: unknown): StreamEvent {
  const { at, after, page } = asObject(body, 'an event');
  return {
    at: asInteger(at, '"at"', 0),
    after: asToken(after, '"after"'),
    page: readPullAnswer(page, MAX_LIMIT),
  };
}

/** @throws {Malformed} */
export function readAbilitiesAnswer(body: unknown): AbilitiesAnswer {
  const { operations, stream, scopedStream } = asObject(body, 'the answer');
  return {
    operations: operations === true,
    stream: stream === true,
    scopedStream: scopedStream === true,
  };
}

/**
 * The code and message of a failed request; `undefined` if the body is something else, such as HTML
 * of a proxy.
 */
export function readErrorAnswer(body: unknown): ErrorAnswer['error'] | undefined {
  const { error } = (typeof body === 'object' && body !== null ? body : {}) as JsonObject;
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, message } = error as JsonObject;
  if (typeof code !== 'string' || typeof message !== 'string') return undefined;
  return { code: code.slice(0, 100), message: message.slice(0, MAX_REASON) };
}

function readResult(result: JsonObject, id: string): PushResult {
  const { version, document, conflict, rejected } = result;
  if (rejected !== undefined) {
    const { reason, retry } = asObject(rejected, '"rejected"');
    return {
      rejected: {
        reason: asString(reason, '"reason"').slice(0, MAX_REASON),
        ...(retry === true && { retry }),
      },
    };
  }
  if (conflict !== undefined) {
    const change = readChange(asObject(conflict, '"conflict"'));
    if (change.id !== id) throw new Malformed('a conflict is of another document');
    return { conflict: change };
  }
  return {
    version: asToken(version, '"version"'),
    // null: deleted since
    ...(document !== undefined && {
      document: document === null ? null : decodeNamed(document, id),
    }),
  };
}
