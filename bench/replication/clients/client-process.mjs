/**
 * A process with many clients. Its parent says `open`, `write`, `rest`, `compare`, `close`; it
 * answers each.
 *
 * A part of the writes is of two clients at once, through different handler processes, to the same
 * document: one of them conflicts. All others are of a client's own document.
 */
import { createHash } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { now, openClient } from './one-client.mjs';

/**
 * @typedef {object} Plan
 * @property {string} dist
 * @property {string[]} urls of the collection, one for each handler process
 * @property {string[]} names of the clients of this process
 * @property {string} shared id of the document that clients of this process write at once
 * @property {number} seconds
 * @property {number} writes a second
 * @property {number} conflictEvery so many writes, one is of two clients at once
 */

/** @type {Plan} */
const plan = JSON.parse(process.argv[2] ?? '{}');
const load = (/** @type {string} */ file) => import(pathToFileURL(`${plan.dist}/${file}`).href);
const library = { ...(await load('index.js')), ...(await load('replication.js')) };

const counts = { pull: 0, push: 0, watch: 0, stream: 0, failed: 0, conflicts: 0, lost: 0 };
/**
 * Milliseconds from a change until another client had it, for each change and client. @type
 * {number[]}
 */
const latencies = [];
/** When the first other client of this process had a change. @type {Record<string, number>} */
const first = {};
/** The last number that was written, by document and client. @type {Record<string, number>} */
const written = {};

/** @param {string} field @param {import('./one-client.mjs').Mark} mark */
function seen(field, { n, at }) {
  const ms = now() - at;
  latencies.push(ms);
  const change = `${field} ${n}`;
  first[change] = Math.min(first[change] ?? Number.POSITIVE_INFINITY, ms);
}

const clients = plan.names.map((name, index) =>
  openClient(library, {
    ...{ name, counts, seen },
    url: /** @type {string} */ (plan.urls[index % plan.urls.length]),
  }),
);
/** @typedef {(typeof clients)[number]} Client */

/** @param {Client} client @param {string} id */
async function write({ marks, name }, id) {
  const field = `${id} ${name}`;
  const n = (written[field] ?? 0) + 1;
  written[field] = n;
  await marks.patch(id, { [name]: { n, at: now() } });
}

/** @param {number} number of the write */
async function writeNext(number) {
  const at = (/** @type {number} */ index) =>
    /** @type {Client} */ (clients[index % clients.length]);
  const writer = at(number);
  if (number % plan.conflictEvery !== 0) return write(writer, writer.name);
  await Promise.all([write(writer, plan.shared), write(at(number + 1), plan.shared)]);
}

async function writeAll() {
  const before = { ...counts };
  const start = performance.now();
  const cpu = process.cpuUsage();
  const writing = [];
  const total = Math.round(plan.writes * plan.seconds);
  for (let number = 1; number <= total; number++) {
    const due = start + (number * 1000) / plan.writes;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
    writing.push(writeNext(number));
  }
  await Promise.all(writing);
  const seconds = (performance.now() - start) / 1000;
  const sum = (/** @type {typeof counts} */ { pull, push, watch, stream }) =>
    pull + push + watch + stream;
  const requests = sum(counts) - sum(before);
  const { user, system } = process.cpuUsage(cpu);
  return { seconds, requests, cpu: (user + system) / 1000, writes: total };
}

/** A hash of all documents of each client. */
const hashes = () =>
  Promise.all(
    clients.map(async ({ marks }) => {
      const documents = await marks.filter({}, { sort: { _id: 1 } });
      const text = documents.map(({ _id, ...fields }) => {
        const own = Object.entries(fields).filter(([key]) => !key.startsWith('_'));
        return JSON.stringify([_id, own.sort(([a], [b]) => (a < b ? -1 : 1))]);
      });
      return createHash('sha256').update(text.join('\n')).digest('hex');
    }),
  );

/** @type {Record<string, () => Promise<unknown>>} */
const orders = {
  open: () => Promise.all(clients.map(({ settled }) => settled())),
  write: writeAll,
  rest: () => Promise.all(clients.map(({ settled }) => settled())),
  compare: async () => ({ hashes: await hashes(), counts, latencies, first, written }),
  close: () => Promise.all(clients.map(({ close }) => close())),
};

process.on('message', async (order) => {
  try {
    process.send?.({ answer: (await orders[String(order)]?.()) ?? null });
  } catch (error) {
    process.send?.({ error: String(error) });
  }
});
process.once('disconnect', () => process.exit());
