import { openClient, remove } from '../../limits/page/cairn.mjs';
import { timeAndWatch } from '../../page/measure.mjs';
import { replication } from './replicated.mjs';

const RANDOM_AT_ONCE = 65_536;
const WAITS_MS = 600_000;

/** @typedef {{ photo: Blob }} Job */

/** @type {Awaited<ReturnType<typeof open>> | undefined} */
let opened;

/** @param {{ database: string, remote: string, load: 'lazy' | 'eager' }} input */
async function open({ database: name, remote, load }) {
  const database = await openClient('worker', name);
  const { http, replicate } = await replication();
  const sent = { requests: 0, bytes: 0, pushes: 0 };
  /** @type {typeof fetch} */
  const counting = (url, init) => {
    if (init?.method === 'PUT') {
      sent.requests++;
      sent.bytes += /** @type {Uint8Array} */ (init.body).byteLength;
    }
    if (String(url).endsWith('/push')) sent.pushes++;
    return fetch(url, init);
  };
  /** @type {import('../../../src/index.ts').DocumentCollection<Job>} */
  const jobs = new database.Collection({ name: 'jobs', type: 'DOCUMENT_BASED', caching: false });
  const url = `${location.origin}/sync/${remote}`;
  const sync = replicate(jobs, { remote: http({ url, fetch: counting }), files: load });
  return { database, jobs, sync, sent };
}

/** Stores documents with a photo each while there is no network. @param {any} input */
export async function prepare(input) {
  opened = await open(input);
  const { jobs, sync } = opened;
  await sync.settled();
  sync.pause();
  const { photos, bytes } = input;
  for (let nth = 0; nth < photos; nth++)
    await jobs.insert({ photo: new Blob([randomBytes(bytes)], { type: 'image/jpeg' }) });
  await jobs.save();
}

/** Opens a device that gets all photos. @param {any} input */
export async function receive(input) {
  opened = await open(input);
  opened.sync.pause();
}

/** Goes online, until all documents and files are there. */
export async function run() {
  const { jobs, sync, sent } = /** @type {NonNullable<typeof opened>} */ (opened);
  const { ms, longest, longTask } = await timeAndWatch(async () => {
    sync.resume();
    await sync.settled({ timeout: WAITS_MS });
    while (isLoading(sync.status.files)) await new Promise((done) => setTimeout(done, 100));
  });
  const rejected = await sync.rejected();
  if (rejected.length > 0) throw new Error(`Refused: ${rejected[0]?.reason}`);
  const count = await jobs.count();
  return { ms, 'blocked ms': longest, 'long task ms': longTask, count, ...sent };
}

/** @param {{ downloads: number } | undefined} files */
const isLoading = (files) => files === undefined || files.downloads > 0;

export async function clean() {
  const { database, sync } = /** @type {NonNullable<typeof opened>} */ (opened);
  await sync.stop();
  await remove(database);
}

/** @param {number} size */
function randomBytes(size) {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += RANDOM_AT_ONCE)
    crypto.getRandomValues(bytes.subarray(at, at + RANDOM_AT_ONCE));
  return bytes;
}
