import { createRxDatabase } from 'rxdb/plugins/core';
import { getRxStorageDexie } from 'rxdb/plugins/storage-dexie';
import { visit } from './people.mjs';

const people = createRxDatabase({
  name: 'first-visit-rxdb',
  storage: getRxStorageDexie(),
  multiInstance: false,
}).then(async (database) => {
  const string = { type: 'string' };
  const { people } = await database.addCollections({
    people: {
      schema: {
        version: 0,
        primaryKey: 'id',
        type: 'object',
        properties: {
          id: { ...string, maxLength: 40 },
          group: { type: 'integer', minimum: 0, maximum: 1000, multipleOf: 1 },
        },
        required: ['id', 'group'],
        indexes: ['group'],
      },
    },
  });
  return people;
});
visit({
  fill: async (documents) => (await people).bulkInsert([...documents]),
  findGroup: async (group) => (await people).find({ selector: { group } }).exec(),
});
