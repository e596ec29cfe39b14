import { open } from 'lmdb';

/** @type {import('../contender.mjs').Contender} */
export const lmdb = {
  name: 'lmdb',
  usage: 'values by MessagePack, an index by hand with dupSort, one transaction an insert',
  levels: ['written', 'synced'],
  async open(directory, level) {
    const root = open({ path: `${directory}/people.mdb` });
    const people = root.openDB({ name: 'people' });
    const groups = root.openDB({ name: 'groups', dupSort: true });
    const settled = async (/** @type {Promise<unknown>} */ committed) => {
      await committed;
      if (level === 'synced') await root.flushed;
    };
    const put = (/** @type {import('../contender.mjs').Keyed} */ person) => {
      people.put(person.id, person);
      groups.put(person.group, person.id);
    };
    return {
      insertMany: (all) => settled(root.transaction(() => all.forEach(put))),
      insert: (person) => settled(root.transaction(() => put(person))),
      findGroup: (group) => Array.from(groups.getValues(group), (id) => people.get(id)),
      all: () => Array.from(people.getRange(), ({ value }) => value),
      close: () => root.close(),
    };
  },
};
