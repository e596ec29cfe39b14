import { definePeer } from '../peer.mjs';

/**
 * @param {Pick<import('../peer.mjs').Peer, 'name' | 'title' | 'kind' | 'keeps' | 'resolved'>} which
 * @param {(name: string) => Promise<{ options: any, close: () => void }>} configure
 */
const tanstack = (which, configure) =>
  definePeer({
    ...which,
    packages: ['@tanstack/db'],
    resident: true,
    runs: 'page',
    key: 'id',
    usage:
      'insert, update and delete take lists, a write is awaited through isPersisted, queryOnce for queries, BTree indexes',
    async load() {
      const {
        and,
        BTreeIndex,
        count,
        createCollection,
        createLiveQueryCollection,
        eq,
        gte,
        lt,
        queryOnce,
      } = await import('@tanstack/db');
      return {
        async open(name) {
          const { options, close } = await configure(name);
          /** @type {any} */
          const people = createCollection(options);
          for (const field of ['group', 'age', 'score']) {
            people.createIndex((/** @type {any} */ row) => row[field], { indexType: BTreeIndex });
          }
          await people.preload();
          /** @param {any} q @param {number} group */
          const inGroup = (q, group) =>
            q.from({ people }).where((/** @type {any} */ row) => eq(row.people.group, group));
          /** @param {any} q @param {number} from @param {number} to */
          const ofAge = (q, from, to) =>
            q
              .from({ people })
              .where((/** @type {any} */ row) =>
                and(gte(row.people.age, from), lt(row.people.age, to)),
              );
          const ask = (/** @type {(q: any) => any} */ query) => queryOnce(query);
          return {
            insertMany: (documents) => people.insert(documents).isPersisted.promise,
            insert: (document) => people.insert(document).isPersisted.promise,
            get: (id) => people.get(id),
            getMany: (ids) => ids.map((id) => people.get(id)),
            findGroup: (group) => ask((q) => inGroup(q, group)),
            findAges: (from, to) => ask((q) => ofAge(q, from, to)),
            findZips: (from, to) =>
              ask((q) =>
                q
                  .from({ people })
                  .where((/** @type {any} */ row) =>
                    and(gte(row.people.address.zip, from), lt(row.people.address.zip, to)),
                  ),
              ),
            firstByScore: (limit) =>
              ask((q) =>
                q
                  .from({ people })
                  .orderBy((/** @type {any} */ row) => row.people.score)
                  .limit(limit),
              ),
            async countAges(from, to) {
              const [row] = /** @type {any[]} */ (
                await ask((q) =>
                  ofAge(q, from, to).select((/** @type {any} */ each) => ({
                    found: count(each.people.id),
                  })),
                )
              );
              return row?.found ?? 0;
            },
            setAges: (ids, age) =>
              people.update(ids, (/** @type {any[]} */ drafts) => {
                for (const draft of drafts) draft.age = age;
              }).isPersisted.promise,
            deleteMany: (ids) => people.delete(ids).isPersisted.promise,
            all: () => people.toArray,
            async watchGroup(group, changed) {
              const live = createLiveQueryCollection((/** @type {any} */ q) => inGroup(q, group));
              await live.preload();
              const watch = live.subscribeChanges(() => changed(live.toArray));
              changed(live.toArray);
              return () => {
                watch.unsubscribe();
                live.cleanup();
              };
            },
            async close() {
              await people.cleanup();
              close();
            },
          };
        },
      };
    },
  });

const getKey = (/** @type {{ id: string }} */ { id }) => id;

export const tanstackIndexedDb = tanstack(
  {
    name: 'tanstack',
    title: 'TanStack DB, IndexedDB',
    kind: 'database',
    keeps: true,
    resolved: 'transaction complete',
  },
  async (name) => {
    const { createIndexedDB, indexedDBCollectionOptions } = await import('@tanstack/db');
    const db = await createIndexedDB({ name, version: 1, stores: ['people'] });
    const options = indexedDBCollectionOptions({ db, name: 'people', getKey });
    return { options, close: () => db.close() };
  },
);

export const tanstackMemory = tanstack(
  {
    name: 'tanstack-local',
    title: 'TanStack DB, local only',
    kind: 'database',
    keeps: false,
    resolved: 'in memory',
  },
  async (name) => {
    const { localOnlyCollectionOptions } = await import('@tanstack/db');
    return { options: localOnlyCollectionOptions({ id: name, getKey }), close() {} };
  },
);
