import { Dexie, type Table } from 'dexie';
import { version } from 'dexie/package.json';
import type { Driver } from '../contender.ts';
import type { Person } from '../person.ts';

export const dexie: Driver = {
  version,
  stored: (database) => database,
  async open(database) {
    const db = new Dexie(database);
    db.version(1).stores({ people: 'id, group, score' });
    await db.open();
    const people: Table<Person, string> = db.table('people');
    return {
      insertMany: (all) => people.bulkAdd(all),
      get: (id) => people.get(id),
      findGroup: (group) => people.where('group').equals(group).toArray(),
      findZips: (from, to) =>
        people.filter(({ address: { zip } }) => zip >= from && zip < to).toArray(),
      firstByScore: (limit) => people.orderBy('score').limit(limit).toArray(),
      close: async () => db.close(),
    };
  },
};
