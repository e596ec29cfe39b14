import { PeopleInMemory } from '../by-hand/people-in-memory.mjs';
import { answerCalls } from '../worker-calls.mjs';

const people = new PeopleInMemory();

answerCalls({
  insertMany: (documents) => people.insertMany(documents),
  insert: (document) => people.insert(document),
  get: (id) => people.get(id),
  getMany: (ids) => people.getMany(ids),
  findGroup: (group) => people.findGroup(group),
  findAges: (from, to) => people.findAges(from, to),
  findZips: (from, to) => people.findZips(from, to),
  firstByScore: (limit) => people.firstByScore(limit),
  countAges: (from, to) => people.countAges(from, to),
  setAges: (ids, age) => void people.setAges(ids, age),
  deleteMany: (ids) => people.deleteMany(ids),
  all: () => people.all(),
});
