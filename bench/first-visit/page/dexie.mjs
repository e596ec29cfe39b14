import { Dexie } from 'dexie';
import { visit } from './people.mjs';

const database = new Dexie('first-visit-dexie');
database.version(1).stores({ people: 'id, group' });
const people = database.table('people');
visit({
  fill: (documents) => people.bulkAdd(documents),
  findGroup: (group) => people.where('group').equals(group).toArray(),
});
