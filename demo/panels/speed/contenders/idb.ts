import { type DBSchema, openDB } from 'idb';
import { version } from 'idb/package.json';
import type { Driver } from '../contender.ts';
import type { Person } from '../person.ts';

interface Schema extends DBSchema {
  people: { key: string; value: Person; indexes: { group: number; score: number } };
}

export const idb: Driver = {
  version,
  stored: (database) => database,
  async open(database) {
    const db = await openDB<Schema>(database, 1, {
      upgrade(upgrading) {
        const people = upgrading.createObjectStore('people', { keyPath: 'id' });
        people.createIndex('group', 'group');
        people.createIndex('score', 'score');
      },
    });
    return {
      async insertMany(all) {
        const { store, done } = db.transaction('people', 'readwrite');
        await Promise.all([...all.map((person) => store.add(person)), done]);
      },
      get: (id) => db.get('people', id),
      findGroup: (group) => db.getAllFromIndex('people', 'group', group),
      async findZips(from, to) {
        const all = await db.getAll('people');
        return all.filter(({ address: { zip } }) => zip >= from && zip < to);
      },
      firstByScore: (limit) => db.getAllFromIndex('people', 'score', null, limit),
      close: async () => db.close(),
    };
  },
};
