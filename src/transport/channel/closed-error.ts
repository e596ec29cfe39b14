import { CollectionError } from '../../errors/collection-error.ts';

/** The error of every call after a close. */
export function closedError(database: string): CollectionError {
  return new CollectionError('closed', `Database "${database}" was closed; open it again.`, {
    place: database,
  });
}
