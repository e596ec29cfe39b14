import { openClient, remove } from '../../limits/page/cairn.mjs';
import { timeAndWatch } from '../../page/measure.mjs';
import { makeIdentified, replication } from './replicated.mjs';

const RANDOM_AT_ONCE = 65_536;
const WAITS_MS = 600_000;
const KEY = new Uint8Array(32).fill(7);

/**
 * @typedef {object} Input
 * @property {'plain' | 'sealed'} contender
 * @property {string} remote a collection of the server that nobody has used
 * @property {number} size
 * @property {number} bytes of the photo of each document; 0: none
 *
 * @typedef {{ _id: string }} Content
 */

/** @param {Pick<Input, 'contender' | 'remote'>} input @param {string} name of the database */
async function open({ contender, remote }, name) {
  const database = await openClient('worker', name);
  const { http, replicate } = await replication();
  /** @type {import('../../../src/index.ts').DocumentCollection<Content>} */
  const all = new database.Collection({ name: 'all', type: 'DOCUMENT_BASED', caching: false });
  const encrypt = contender === 'sealed' ? { key: KEY, ids: KEY } : undefined;
  const url = `${location.origin}/sync/${remote}`;
  const sync = replicate(all, { remote: http({ url, encrypt }), files: 'eager' });
  await sync.settled();
  const close = async () => {
    await sync.stop();
    await remove(database);
  };
  return { all, sync, close };
}

/** Sends what was made offline, and receives it in another database. @param {Input} input */
export async function run(input) {
  const { remote, size, bytes } = input;
  const sender = await open(input, `${remote}-sender`);
  sender.sync.pause();
  await sender.all.insertMany(bytes === 0 ? makeIdentified(size) : withPhotos(size, bytes));
  await sender.all.save();
  const sent = await timeAndWatch(async () => {
    sender.sync.resume();
    await sender.sync.settled({ timeout: WAITS_MS });
  });
  await (await open({ ...input, remote: 'none' }, `${remote}-warm`)).close();
  /** @type {Awaited<ReturnType<typeof open>> | undefined} */
  let receiver;
  const received = await timeAndWatch(async () => {
    receiver = await open(input, `${remote}-receiver`);
    while (receiver.sync.status.files?.downloads !== 0)
      await new Promise((done) => setTimeout(done, 20));
  });
  const count = await receiver?.all.count();
  if (count !== size) throw new Error(`${count} of ${size} documents.`);
  await sender.close();
  await receiver?.close();
  return {
    'send: ms': sent.ms,
    'send: blocked ms': sent.longest,
    'receive: ms': received.ms,
    'receive: blocked ms': received.longest,
  };
}

/** @param {number} size @param {number} bytes @returns {Content[]} */
function withPhotos(size, bytes) {
  return Array.from({ length: size }, (_, nth) => {
    const photo = new Uint8Array(bytes);
    for (let at = 0; at < bytes; at += RANDOM_AT_ONCE)
      crypto.getRandomValues(photo.subarray(at, at + RANDOM_AT_ONCE));
    return { _id: `p${nth}`, photo: new Blob([photo]) };
  });
}
