import { CollectionError } from '../errors/errors.ts';

/**
 * @param name Unknown to a worker that replaced the one of the drop.
 * @param to The name that it goes on by; empty where it was dropped.
 */
export function ended(name?: string, to = ''): CollectionError {
  const end = to ? `renamed to "${to}"; construct it by that name` : 'dropped; construct it again';
  return new CollectionError(
    to ? 'collection_renamed' : 'collection_dropped',
    `Collection ${name === undefined ? '' : `"${name}" `}was ${end}.`,
    { place: name },
  );
}

export function typeMismatch(name: string, is: string, asked: string): CollectionError {
  return new CollectionError(
    'type_mismatch',
    `Collection "${name}" is ${is} and cannot be opened as ${asked}; its type is fixed.`,
    { place: name },
  );
}

/** The change of a client was applied, and its answer lost. */
export function answerLost(name: string): CollectionError {
  return new CollectionError(
    'answer_lost',
    `A change of collection "${name}" was made, and the answer lost with the leader. Read what you need again.`,
    { place: name },
  );
}

/**
 * A change that was not saved when its leader was lost finds its document gone as it is reapplied.
 */
export function changeLost(name: string, id: string): CollectionError {
  const message = lostMessage(`A change of "${id}"`, name);
  return new CollectionError('change_lost', message, { place: id });
}

/** @param what That was lost. */
export function lostMessage(what: string, name: string): string {
  return `${what} was lost with the leader, unsaved: a document of "${name}" that it changes is gone. Nothing of it is left.`;
}

/** A part of an `insertMany` never came. */
export function insertLost(name: string): CollectionError {
  return new CollectionError(
    'insert_lost',
    `A part of an insertMany() into collection "${name}" was refused or lost: none of its documents is there. Insert them again.`,
    { place: name },
  );
}

/**
 * Documents have another version than the code that uses them.
 *
 * @param found Their version.
 * @param own The version of the code.
 * @param what Where the documents are.
 */
export function otherVersion(
  name: string,
  found: number,
  own: number,
  what = `collection "${name}"`,
): CollectionError {
  const isNewer = found > own;
  const remedy = isNewer
    ? 'Reload the page to get newer code; loadBackup() of an earlier backup undoes it'
    : 'Construct the collection, with the steps of `migrate`, to migrate them';
  return new CollectionError(
    isNewer ? 'schema_newer' : 'schema_older',
    `The documents of ${what} have version ${found}, and this code has version ${own}. ${remedy}.`,
    { place: name },
  );
}
