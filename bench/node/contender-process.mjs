/**
 * node contender-process.mjs <step> <contender> <level> <directory> <dist> <size> <seed>: a step in
 * a process of its own, as a restart has it. Prints its figures as JSON.
 */
import assert from 'node:assert/strict';
import { makePeople } from '../page/people.mjs';
import { contenders } from './contenders/all.mjs';

const [step, name, level = '', directory = '', dist = '', size = '', seed = ''] =
  process.argv.slice(2);
const contender = contenders.find((one) => one.name === name);
if (!contender) throw new Error(`There is no contender ${name}.`);
const count = Number(size);
const singles = Math.ceil(count / 20);

/** @type {Record<string, number>} in milliseconds */
const figures = {};

/** @template T @param {string} figure @param {() => T | Promise<T>} run @param {number} [times] */
async function time(figure, run, times = 1) {
  const start = performance.now();
  const result = await run();
  figures[figure] = (performance.now() - start) / times;
  return result;
}

const open = () =>
  contender.open(directory, /** @type {import('./contender.mjs').Level} */ (level), dist);

async function insert() {
  const people = makePeople(count, Number(seed));
  const later = makePeople(singles, Number(seed), 1);
  const store = await open();
  await time('bulk', () => store.insertMany(people));
  await time(
    'single',
    async () => {
      for (const person of later) await store.insert(person);
    },
    singles,
  );
  await store.close();
}

async function read() {
  const { store, found } = await time('reopen', async () => {
    const store = await open();
    return { store, found: await store.findGroup(1) };
  });
  assert.ok(found.length > 0, 'the index has found nothing');
  const all = await time('scan', () => store.all());
  assert.equal(all.length, count + singles);
  await time('scan again', () => store.all());
  await store.close();
}

await (step === 'insert' ? insert() : read());
console.log(JSON.stringify(figures));
