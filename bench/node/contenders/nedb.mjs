import Datastore from '@seald-io/nedb';
import { withKey } from '../../page/people.mjs';

/** @type {import('../contender.mjs').Contender} */
export const nedb = {
  name: 'nedb',
  usage: 'all documents in memory, appended to one file, which it does not sync',
  levels: ['written'],
  async open(directory) {
    const people = new Datastore({ filename: `${directory}/people.db` });
    await people.loadDatabaseAsync();
    await people.ensureIndexAsync({ fieldName: 'group' });
    return {
      insertMany: (all) => people.insertAsync(withKey(all, '_id')),
      insert: (person) => people.insertAsync(withKey([person], '_id')),
      findGroup: (group) => people.findAsync({ group }),
      all: () => people.findAsync({}),
      close: () => undefined,
    };
  },
};
