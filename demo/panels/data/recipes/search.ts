import type { DocumentCollection, FindOptions } from 'cairndb';

// What is typed, anywhere in one of the fields.
export function criteriaFor(text: string, paths: readonly string[]) {
  if (text === '') return {};
  const pattern = new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'i');
  return { $or: paths.map((path) => ({ [path]: pattern })) };
}

// A page of the result that stays true: each change brings
// the difference, and nothing else.
export const livePage = (
  collection: DocumentCollection,
  criteria: object,
  options: Pick<FindOptions, 'archived' | 'sort' | 'skip' | 'limit'>,
) => collection.live(criteria, { ...options, throttle: 100 });
