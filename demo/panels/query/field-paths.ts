import { effect, signal } from '@preact/signals';
import { collectionOf } from '../../database/database.ts';
import { queriedTable } from './query.ts';

const SAMPLE = 200;

/** Paths of fields that the queried documents have, as far as a sample tells. */
export const fieldPaths = signal<readonly string[]>([]);

effect(() => {
  const collection = collectionOf(queriedTable.value);
  collection.filter({}, { limit: SAMPLE }).then(
    (sample) => {
      fieldPaths.value = [...new Set(sample.flatMap((document) => pathsOf(document)))];
    },
    () => {
      fieldPaths.value = []; // what is wrong is said when a query is run
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
