import type { DocumentCollection, FindOptions } from 'cairndb';

// What is typed, anywhere in one of the fields. Where it has a space,
// they may have a hyphen, as ids do.
export function criteriaFor(text: string, paths: readonly string[]) {
  if (text === '') return {};
  const literal = text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  const pattern = new RegExp(literal.replace(/\s+/g, '[\\s-]'), 'i');
  return { $or: paths.map((path) => ({ [path]: pattern })) };
}

// A page of the result that stays true: each change brings
// the difference, and nothing else.
export const livePage = (
  collection: DocumentCollection,
  criteria: object,
  options: Pick<FindOptions, 'archived' | 'sort' | 'skip' | 'limit'>,
) => collection.live(criteria, { ...options, throttle: 100 });
