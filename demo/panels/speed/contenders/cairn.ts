import { connect } from 'cairndb';
import { version } from '../../../../package.json';
import type { Driver } from '../contender.ts';
import type { Person } from '../person.ts';

export const cairn: Driver = {
  version,
  stored: (database) => `cairn:${database}`,
  async open(database) {
    const db = connect({ name: database });
    const people = new db.Collection<Omit<Person, 'id'>>({
      name: 'people',
      type: 'DOCUMENT_BASED',
      caching: true,
      indexes: ['group', 'score'],
    });
    await people.ready;
    return {
      async insertMany(all) {
        await people.insertMany(all.map(({ id: _id, ...person }) => ({ _id, ...person })));
        await people.save();
      },
      get: (id) => people.get(id),
      findGroup: (group) => people.filter({ group }),
      findZips: (from, to) => people.filter({ 'address.zip': { $gte: from, $lt: to } }),
      firstByScore: (limit) => people.filter({}, { sort: { score: 1 }, limit }),
      close: () => db.close(),
    };
  },
};
