import { definePeer } from '../peer.mjs';

export const dexie = definePeer({
  name: 'dexie',
  title: 'Dexie',
  packages: ['dexie'],
  kind: 'database',
  keeps: true,
  resident: false,
  runs: 'page',
  key: 'id',
  resolved: 'transaction complete',
  usage: 'bulkAdd, bulkUpdate and bulkDelete for many, bulkGet in one call, indexes in the schema',
  async load() {
    const { Dexie, liveQuery } = await import('dexie');
    return {
      async open(name) {
        const database = new Dexie(name);
        database.version(1).stores({ people: 'id, group, age, score' });
        await database.open();
        const people = database.table('people');
        const inGroup = (/** @type {number} */ group) =>
          people.where('group').equals(group).toArray();
        const ofAge = (/** @type {number} */ from, /** @type {number} */ to) =>
          people.where('age').between(from, to);
        return {
          insertMany: (documents) => people.bulkAdd(documents),
          insert: (document) => people.add(document),
          get: (id) => people.get(id),
          getMany: (ids) => people.bulkGet(ids),
          findGroup: inGroup,
          findAges: (from, to) => ofAge(from, to).toArray(),
          findZips: (from, to) =>
            people.filter(({ address }) => address.zip >= from && address.zip < to).toArray(),
          firstByScore: (limit) => people.orderBy('score').limit(limit).toArray(),
          countAges: (from, to) => ofAge(from, to).count(),
          setAges: (ids, age) => people.bulkUpdate(ids.map((key) => ({ key, changes: { age } }))),
          deleteMany: (ids) => people.bulkDelete(ids),
          all: () => people.toArray(),
          async watchGroup(group, changed) {
            const watch = liveQuery(() => inGroup(group)).subscribe(changed);
            return () => watch.unsubscribe();
          },
          close: () => database.close(),
        };
      },
    };
  },
});
