import { isPlainObject } from '../../codec/kinds.ts';
import { isSequence, type Sequence } from './couch-answers.ts';
import { isRevision } from './revisions.ts';

/** A place in the changes of a database, and what these changes are known by. */
export interface CouchCheckpoint {
  /** The `last_seq` as the server gave it. */
  readonly since: Sequence;
  /** What names the history of the database. */
  readonly database: string;
  /** A document and its revision before that place: a database that was restored or created anew does not know it. */
  readonly seen?: readonly [id: string, revision: string];
  /** Hash of the selector that chose the changes. */
  readonly selector?: string;
}

/** @returns `undefined` for what is no checkpoint of this remote. */
export function readCheckpoint(value: unknown): CouchCheckpoint | undefined {
  if (!isPlainObject(value)) return undefined;
  const { since, database, seen, selector } = value;
  if (!isSequence(since) || typeof database !== 'string') return undefined;
  if (selector !== undefined && typeof selector !== 'string') return undefined;
  const place = { since, database, ...(selector !== undefined && { selector }) };
  if (seen === undefined) return place;
  if (!Array.isArray(seen)) return undefined;
  const [id, revision] = seen as unknown[];
  if (typeof id !== 'string' || !isRevision(revision)) return undefined;
  return { ...place, seen: [id, revision] };
}
