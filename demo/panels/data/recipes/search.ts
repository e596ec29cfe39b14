import type { DocumentCollection, FindOptions } from 'cairndb';

// Finds the text anywhere in one of the fields. A space also matches
// a hyphen, as ids have.
export function criteriaFor(text: string, paths: readonly string[]) {
  if (text === '') return {};
  const literal = text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const pattern = new RegExp(literal.replace(/\s+/g, '[\\s-]'), 'i');
  return { $or: paths.map((path) => ({ [path]: pattern })) };
}

// A live page of the result. A change sends only the difference.
export const livePage = (
  collection: DocumentCollection,
  criteria: object,
  options: Pick<FindOptions, 'archived' | 'sort' | 'skip' | 'limit'>,
) => collection.live(criteria, { ...options, throttle: 100 });
