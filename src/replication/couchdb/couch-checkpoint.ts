import { isPlainObject } from '../../codec/kinds.ts';
import { isSequence, type Sequence } from './couch-answers.ts';
import { isRevision } from './revisions.ts';

/** A place in the changes of a database, and what the database is known by. */
export interface CouchCheckpoint {
  /** The `last_seq` as the server gave it. */
  readonly since: Sequence;
  /** When the database was created, if the server says. */
  readonly database: string;
  /** A document and its revision before that place: a database that was restored or created anew does not know it. */
  readonly seen?: readonly [id: string, revision: string];
}

/** @returns `undefined` for what is no checkpoint of this remote. */
export function readCheckpoint(value: unknown): CouchCheckpoint | undefined {
  if (!isPlainObject(value)) return undefined;
  const { since, database, seen } = value;
  if (!isSequence(since) || typeof database !== 'string') return undefined;
  if (seen === undefined) return { since, database };
  if (!Array.isArray(seen)) return undefined;
  const [id, revision] = seen as unknown[];
  if (typeof id !== 'string' || !isRevision(revision)) return undefined;
  return { since, database, seen: [id, revision] };
}

/**
 * The number that a sequence begins with. On one node it grows; lower than before, it is a sign of another history, or of
 * another node of a cluster.
 */
export function numberOf(sequence: Sequence): number {
  const number = Number.parseInt(String(sequence), 10);
  return Number.isNaN(number) ? 0 : number;
}
