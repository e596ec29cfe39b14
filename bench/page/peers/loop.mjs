import { PeopleInMemory } from '../by-hand/people-in-memory.mjs';
import { definePeer } from '../peer.mjs';

export const loop = definePeer({
  name: 'loop',
  title: 'loops by hand, in memory',
  packages: [],
  kind: 'limit',
  keeps: false,
  resident: true,
  runs: 'page',
  key: 'id',
  resolved: 'in memory',
  usage: 'Maps and loops over the stored objects themselves; stores nothing, checks nothing',
  async load() {
    return {
      async open() {
        const people = new PeopleInMemory();
        return {
          insertMany: (documents) => people.insertMany(documents),
          insert: (document) => people.insert(document),
          get: (id) => people.get(id),
          getMany: (ids) => people.getMany(ids),
          findGroup: (group) => people.findGroup(group),
          findAges: (from, to) => people.findAges(from, to),
          findZips: (from, to) => people.findZips(from, to),
          firstByScore: (limit) => people.firstByScore(limit),
          countAges: (from, to) => people.countAges(from, to),
          setAges: (ids, age) => people.setAges(ids, age),
          deleteMany: (ids) => people.deleteMany(ids),
          all: () => people.all(),
          watchGroup: async (group, changed) => people.watchGroup(group, changed),
          close() {},
        };
      },
    };
  },
});
