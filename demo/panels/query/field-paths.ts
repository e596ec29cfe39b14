import { effect, signal } from '@preact/signals';
import { collectionOf } from '../../database/database.ts';
import { queriedTable } from './query.ts';

const SAMPLE = 200;

/** Field paths of the queried collection, from a sample. */
export const fieldPaths = signal<readonly string[]>([]);

effect(() => {
  const collection = collectionOf(queriedTable.value);
  collection.filter({}, { limit: SAMPLE }).then(
    (sample) => {
      fieldPaths.value = [...new Set(sample.flatMap((document) => pathsOf(document)))];
    },
    () => {
      fieldPaths.value = []; // running a query shows the error
    },
  );
});

function pathsOf(value: object, above = ''): string[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    const path = above + key;
    const isObject = typeof inner === 'object' && inner?.constructor === Object;
    return isObject ? [path, ...pathsOf(inner, `${path}.`)] : [path];
  });
}
