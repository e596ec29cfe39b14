import {
  BTreeIndex,
  createCollection,
  createIndexedDB,
  eq,
  indexedDBCollectionOptions,
  queryOnce,
} from '@tanstack/db';
import { visit } from './people.mjs';

const opened = createIndexedDB({
  name: 'first-visit-tanstack',
  version: 1,
  stores: ['people'],
}).then(async (db) => {
  const getKey = (/** @type {any} */ { id }) => id;
  /** @type {any} */
  const people = createCollection(indexedDBCollectionOptions({ db, name: 'people', getKey }));
  people.createIndex((/** @type {any} */ row) => row.group, { indexType: BTreeIndex });
  await people.preload();
  return people;
});
visit({
  fill: async (documents) => (await opened).insert([...documents]).isPersisted.promise,
  async findGroup(group) {
    const people = await opened;
    return queryOnce((/** @type {any} */ q) =>
      q.from({ people }).where((/** @type {any} */ row) => eq(row.people.group, group)),
    );
  },
});
