import { definePeer } from '../peer.mjs';

const TABLE = 'people';

export const tinybase = definePeer({
  name: 'tinybase',
  title: 'TinyBase, IndexedDB persister',
  packages: ['tinybase'],
  kind: 'database',
  keeps: true,
  resident: true,
  runs: 'page',
  key: 'id',
  resolved: 'in memory',
  savedBy: 'persister.save()',
  usage:
    'one transaction for many rows, index slices for group and age, an index sorted by score; a save writes the whole table, so the benchmark calls it instead of saving automatically',
  async load() {
    const [{ createIndexes, createQueries, createStore }, { createIndexedDbPersister }] =
      await Promise.all([import('tinybase'), import('tinybase/persisters/persister-indexed-db')]);
    return {
      async open(name) {
        const store = createStore();
        const persister = createIndexedDbPersister(store, name);
        await persister.load();
        const indexes = createIndexes(store);
        indexes.setIndexDefinition('group', TABLE, 'group');
        indexes.setIndexDefinition('age', TABLE, 'age');
        indexes.setIndexDefinition('score', TABLE, () => 'all', 'score');
        const row = (/** @type {string} */ id) =>
          store.hasRow(TABLE, id) ? { id, ...store.getRow(TABLE, id) } : undefined;
        const slice = (/** @type {string} */ index, /** @type {number} */ value) =>
          indexes.getSliceRowIds(index, String(value));
        const ages = (/** @type {number} */ from, /** @type {number} */ to) =>
          Array.from({ length: to - from }, (_, age) => slice('age', from + age));
        const write = (/** @type {import('../peer.mjs').Doc} */ { id, ...cells }) =>
          store.setRow(TABLE, id, cells);
        return {
          insertMany: (documents) =>
            store.transaction(() => {
              for (const document of documents) write(document);
            }),
          insert: write,
          get: row,
          getMany: (ids) => ids.map(row),
          findGroup: (group) => slice('group', group).map(row),
          findAges: (from, to) => ages(from, to).flatMap((ids) => ids.map(row)),
          findZips: (from, to) =>
            store
              .getRowIds(TABLE)
              .filter((id) => {
                const { zip } = /** @type {any} */ (store.getCell(TABLE, id, 'address'));
                return zip >= from && zip < to;
              })
              .map(row),
          firstByScore: (limit) => indexes.getSliceRowIds('score', 'all').slice(0, limit).map(row),
          countAges: (from, to) => ages(from, to).reduce((sum, { length }) => sum + length, 0),
          setAges: (ids, age) =>
            store.transaction(() => {
              for (const id of ids) store.setCell(TABLE, id, 'age', age);
            }),
          deleteMany: (ids) =>
            store.transaction(() => {
              for (const id of ids) store.delRow(TABLE, id);
            }),
          all: () => store.getRowIds(TABLE).map(row),
          async watchGroup(group, changed) {
            const queries = createQueries(store);
            const fields = Object.keys(row(slice('group', group)[0] ?? '') ?? {});
            queries.setQueryDefinition('group', TABLE, ({ select, where }) => {
              for (const field of fields) select(field);
              where('group', group);
            });
            const tell = () =>
              changed(
                Object.entries(queries.getResultTable('group')).map(([id, cells]) => ({
                  ...cells,
                  id,
                })),
              );
            queries.addResultTableListener('group', tell);
            tell();
            return () => queries.destroy();
          },
          saved: () => persister.save(),
          close: () => persister.destroy(),
        };
      },
    };
  },
});
