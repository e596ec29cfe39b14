import { randomNumbers } from '../../page/documents.mjs';
import { measure, middle, time } from '../../page/measure.mjs';

/**
 * The documents that all contenders have.
 *
 * @typedef {{ _id: string, name: string, city: string, phone: string }} Customer
 * @typedef {{ _id: string, team: number, customer_id: string, scheduled_at: number, title: string
 *   }} Job
 * @typedef {{ _id: string, job_id: string, at: number, done: boolean, note: string }} Visit
 * @typedef {{ _id: string, region: string, price: number, quantity: number, day: Date }} Sale
 */

/**
 * @template C, V
 * @typedef {import('../../../src/index.ts').DocumentCollection<Omit<Job, '_id'>,
 *   import('../../../src/index.ts').Related<{ customer: C, visits: V[] }>>} JobCollection
 */

const padded = (/** @type {number} */ n) => String(n).padStart(6, '0');

/** @param {number} size @returns {Customer[]} */
export function makeCustomers(size) {
  const random = randomNumbers(1);
  return Array.from({ length: size }, (_, n) => ({
    _id: `customer ${padded(n)}`,
    name: `Customer ${n}`,
    city: `City ${Math.floor(random() * 100)}`,
    phone: String(Math.floor(random() * 1e9)),
  }));
}

/**
 * Jobs of teams, each of so many scattered ones.
 *
 * @param {number} size
 * @param {{ ofTeam: number, customers: number }} options
 * @returns {Job[]}
 */
export function makeJobs(size, { ofTeam, customers }) {
  const random = randomNumbers(2);
  const teams = size / ofTeam;
  return Array.from({ length: size }, (_, n) => ({
    _id: `job ${padded(n)}`,
    team: n % teams,
    customer_id: `customer ${padded(Math.floor(random() * customers))}`,
    scheduled_at: Math.floor(random() * 1e9),
    title: `Repair of the roof ${n}`,
  }));
}

/** As many of each job, scattered. @param {number} size @param {number} jobs @returns {Visit[]} */
export function makeVisits(size, jobs) {
  const random = randomNumbers(3);
  return Array.from({ length: size }, (_, n) => ({
    _id: `visit ${padded(n)}`,
    job_id: `job ${padded(n % jobs)}`,
    at: Math.floor(random() * 1e9),
    done: random() < 0.5,
    note: `A note on what was done ${n}`,
  }));
}

export const REGIONS = 50;

/** @param {number} size @returns {Sale[]} */
export function makeSales(size) {
  const random = randomNumbers(4);
  return Array.from({ length: size }, (_, n) => ({
    _id: `sale ${padded(n)}`,
    region: `region ${Math.floor(random() * REGIONS)}`,
    price: Math.floor(random() * 1000) / 10,
    quantity: Math.ceil(random() * 9),
    day: new Date(Date.UTC(2026, 0, 1 + Math.floor(random() * 365))),
  }));
}

/**
 * The collections of a client, filled and in memory.
 *
 * @param {import('../../limits/page/cairn.mjs').DatabaseClient} database
 * @param {{ customers?: Customer[], jobs: Job[], visits?: Visit[] }} documents
 */
export async function openShop(database, documents) {
  const kept = /** @type {const} */ ({ type: 'DOCUMENT_BASED', caching: true });
  /** @type {import('../../../src/index.ts').DocumentCollection<Omit<Customer, '_id'>>} */
  const customers = new database.Collection({ ...kept, name: 'customers' });
  /** @type {import('../../../src/index.ts').DocumentCollection<Omit<Visit, '_id'>>} */
  const visits = new database.Collection({ ...kept, name: 'visits', indexes: ['job_id'] });
  /** @type {JobCollection<typeof customers, typeof visits>} */
  const jobs = new database.Collection({
    ...kept,
    name: 'jobs',
    indexes: ['team'],
    relations: {
      customer: { one: () => customers, from: 'customer_id' },
      visits: { many: () => visits, to: 'job_id' },
    },
  });
  await jobs.insertMany(documents.jobs);
  await customers.insertMany(documents.customers ?? []);
  await visits.insertMany(documents.visits ?? []);
  await database.save();
  return { customers, jobs, visits };
}

/** @param {import('../../limits/page/cairn.mjs').DatabaseClient} database @param {Sale[]} all */
export async function openSales(database, all) {
  /** @type {import('../../../src/index.ts').DocumentCollection<Omit<Sale, '_id'>>} */
  const sales = new database.Collection({
    name: 'sales',
    type: 'DOCUMENT_BASED',
    caching: true,
    indexes: ['region'],
  });
  await sales.insertMany(all);
  await sales.save();
  return sales;
}

/**
 * The median milliseconds of each, in turns, as the machine is never equally busy.
 *
 * @param {number} turns
 * @param {readonly ((turn: number) => unknown)[]} compared
 */
export async function compare(turns, compared) {
  /** @type {number[][]} */
  const times = compared.map(() => []);
  // The first ones warm up.
  for (let turn = 0; turn < 20; turn++) for (const run of compared) await run(turn);
  await measure(async () => {
    for (let turn = 0; turn < turns; turn++) {
      const order = [...compared.entries()];
      for (const [index, run] of turn % 2 === 0 ? order : order.reverse()) {
        times[index]?.push((await time(() => run(turn))).ms);
      }
    }
  });
  return times.map(middle);
}

/**
 * The median milliseconds from a change until its result arrives.
 *
 * @param {number} changes
 * @param {(listener: () => void) => unknown} subscribe returns what ends it, and tells of nothing
 *   but changes
 * @param {(n: number) => unknown} change
 */
export async function timeChanges(changes, subscribe, change) {
  let arrive = () => {};
  const end = await subscribe(() => arrive());
  const once = (/** @type {number} */ n) =>
    new Promise((resolve, reject) => {
      arrive = () => resolve(undefined);
      Promise.resolve(change(n)).catch(reject);
    });
  for (let n = 0; n < 20; n++) await once(n);
  const { result } = await measure(async () => {
    const times = [];
    for (let n = 0; n < changes; n++) {
      times.push((await time(() => once(n))).ms);
      // Lets what follows a result end, such as its acknowledgement.
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return middle(times);
  });
  /** @type {() => void} */ (end)();
  return result;
}

/** @param {unknown} value @param {unknown} expected @param {string} what */
export function expectEqual(value, expected, what) {
  if (value !== expected) throw new Error(`${what}: ${value} in place of ${expected}.`);
}
