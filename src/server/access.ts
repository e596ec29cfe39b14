import { copy } from '../codec/capture.ts';
import { decodeDocument } from '../codec/exact-json/wire-documents.ts';
import { Malformed } from '../errors/errors.ts';
import { RequestFailure, ServerError } from './failures.ts';
import { sqlFailureOf } from './postgres/sql-state.ts';

/**
 * Decides about one document. Anything but `true` refuses, an error too: `onError` gets it, and all
 * other documents go on. A `ServerError`, or an error of a connection, says that it cannot decide
 * for now: the page asks again.
 */
export type Filter = (document: Readonly<Record<string, unknown>>) => boolean | Promise<boolean>;

/** What a user may see and change of a collection. */
export interface AccessFilters {
  /** Documents that the user may see. The others look deleted to him. Default: all. */
  readonly read?: Filter;
  /**
   * Documents that the user may write; must hold before and after a change. Default: all, but a
   * document that `read` hides is not replaced. With `read` alone a user may make any document, and
   * give one away.
   */
  readonly write?: Filter;
}

/** `true`: everything, `false`: nothing (403), `undefined`: who is it? (401). */
export type Authorization = boolean | undefined | AccessFilters;

/**
 * Decides about a request for a collection.
 *
 * @param request Its method, URL and headers; not its body, which the handler reads later.
 */
export type Authorize = (
  request: Request,
  collection: string,
) => Authorization | Promise<Authorization>;

/** Filters over documents as the store has them. */
export interface Access {
  readonly canRead: ((id: string, wire: unknown) => Promise<boolean>) | undefined;
  readonly canWrite: ((id: string, wire: unknown) => Promise<boolean>) | undefined;
}

export type OnFilterFailure = (error: ServerError) => void;

const FULL: Access = { canRead: undefined, canWrite: undefined };

/** @throws {RequestFailure} with 401 or 403. */
export function accessOf(authorization: unknown, onFailure: OnFilterFailure): Access {
  if (authorization === true) return FULL;
  if (authorization === undefined || authorization === null) {
    throw new RequestFailure(401, 'unauthorized', 'Sign in first.', {
      'www-authenticate': 'Bearer',
    });
  }
  if (authorization === false) {
    throw new RequestFailure(403, 'forbidden', 'This collection is not yours.');
  }
  const { read, write, ...others } = checkFilters(authorization);
  // A misspelt filter must not open the collection.
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw authorizeInvalid(`an object with "${unknown}"`);
  return {
    canRead: read && overWire('read', read, onFailure),
    canWrite: write && overWire('write', write, onFailure),
  };
}

function checkFilters(authorization: unknown): AccessFilters {
  if (typeof authorization !== 'object' || authorization === null) {
    throw authorizeInvalid(typeof authorization);
  }
  const prototype: unknown = Object.getPrototypeOf(authorization);
  const filters = authorization as AccessFilters;
  if (prototype !== Object.prototype && prototype !== null) throw authorizeInvalid('an instance');
  for (const name of ['read', 'write'] as const) {
    const filter: unknown = filters[name];
    if (filter !== undefined && typeof filter !== 'function') {
      throw authorizeInvalid(`"${name}" that is no function`);
    }
  }
  return filters;
}

function authorizeInvalid(what: string): ServerError {
  return new ServerError(
    'authorize_invalid',
    `authorize() returned ${what}. It returns true, false, undefined, or { read?, write? }.`,
    { place: 'authorize' },
  );
}

export function overWire(
  name: string,
  filter: Filter,
  onFailure: OnFilterFailure,
): NonNullable<Access['canRead']> {
  return async (id, wire) => {
    const document = decoded(id, wire);
    if (document === undefined) return false;
    try {
      return (await filter(document)) === true;
    } catch (cause) {
      const failure = sqlFailureOf(cause);
      // A document that is hidden while a database is away would stay away.
      if (failure instanceof ServerError) throw failure;
      const { message = cause } = (cause ?? {}) as Partial<Error>;
      onFailure(
        new ServerError('filter_failed', `The filter "${name}" failed for "${id}": ${message}`, {
          ...{ place: id, cause },
        }),
      );
      return false;
    }
  };
}

/** `undefined` for a document that somebody damaged in the database: nobody sees it. */
function decoded(id: string, wire: unknown): Readonly<Record<string, unknown>> | undefined {
  try {
    // A filter that changes it, as by sort(), must not change the answer.
    return copy(decodeDocument(wire, id)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}
