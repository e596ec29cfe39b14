import Loki from 'lokijs';
import { version } from 'lokijs/package.json';
import IncrementalAdapter from 'lokijs/src/incremental-indexeddb-adapter.js';
import type { Driver } from '../contender.ts';
import type { Person } from '../person.ts';

/** Loki calls back, with an error or without. */
const called = (call: (done: (error?: unknown) => void) => void): Promise<void> =>
  new Promise((resolve, reject) => call((error) => (error ? reject(error) : resolve())));

export const loki: Driver = {
  version,
  stored: (database) => database,
  async open(database) {
    const db = new Loki(database, { adapter: new IncrementalAdapter() });
    await called((done) => db.loadDatabase({}, done));
    const people =
      db.getCollection<Person>('people') ??
      db.addCollection<Person>('people', {
        unique: ['id'],
        indices: ['group', 'score'],
        disableMeta: true,
      });
    return {
      async insertMany(all) {
        people.insert([...all]);
        await called((done) => db.saveDatabase(done));
      },
      get: async (id) => people.by('id', id),
      findGroup: async (group) => people.find({ group }),
      findZips: async (from, to) => people.where(({ address: { zip } }) => zip >= from && zip < to),
      firstByScore: async (limit) => people.chain().simplesort('score').limit(limit).data(),
      close: () => called((done) => db.close(done)),
    };
  },
};
