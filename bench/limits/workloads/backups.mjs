import { measure, time, wait } from '../../page/measure.mjs';
import { fill, openClient, openPeople } from '../page/cairn.mjs';
import { defineWorkload } from '../workload.mjs';

/**
 * @typedef {import('../page/cairn.mjs').ClientName} ClientName
 */

/** @param {ReadableStream<Uint8Array>} stream */
async function drain(stream) {
  let bytes = 0;
  const chunks = [];
  for (const reader = stream.getReader(); ; ) {
    const { value, done } = await reader.read();
    if (done) return { bytes, file: new Blob(chunks) };
    bytes += value.length;
    chunks.push(/** @type {Uint8Array<ArrayBuffer>} */ (value));
  }
}

/** Bytes of the page's heap and array buffers, if the browser reports them. */
const heap = () =>
  /** @type {{ memory?: { usedJSHeapSize: number } }} */ (performance).memory?.usedJSHeapSize ?? 0;

/** Chunks between two heap measurements, each of which collects all garbage. */
const LOOK_EVERY = 4;

/**
 * Additional bytes held while a stream is read and discarded: after
 * garbage collection, and before.
 *
 * @param {() => Promise<ReadableStream<Uint8Array>>} open
 */
async function watchHeap(open) {
  const { gc = () => undefined } = /** @type {{ gc?: () => void }} */ (globalThis);
  const read = async (/** @type {(chunk: number) => number} */ look) => {
    gc();
    await wait(50);
    gc();
    const before = heap();
    let most = before;
    const reader = (await open()).getReader();
    for (let chunk = 1; !(await reader.read()).done; chunk++) most = Math.max(most, look(chunk));
    return most - before;
  };
  const grown = await read(heap);
  const held = await read((chunk) => {
    if (chunk % LOOK_EVERY > 0) return 0;
    gc();
    return heap();
  });
  return { grown, held };
}

/** @param {ClientName} client @returns {import('../workload.mjs').Contender} */
const through =
  (client) =>
  async ({ database: name, size }) => {
    const filling = await openClient(client, name);
    const [first = ''] = await fill(openPeople(filling, { caching: true }), size);
    await filling.close();
    const { ms: opening, result: database } = await time(async () => {
      const opened = await openClient(client, name);
      await openPeople(opened, { caching: true }).ready;
      return opened;
    });
    const people = openPeople(database, { caching: true });
    // Once in advance, so that its code is loaded, as that of opening is.
    const trial = await people.createBackup();
    await drain(await people.exportBackup(trial));
    await people.deleteBackup(trial);
    await people.archive(first);
    const { ms: creating, result: backup } = await measure(() => people.createBackup());
    const { ms: loading } = await measure(() => people.loadBackup(backup));
    const { ms: exporting, result } = await measure(async () =>
      drain(await people.exportBackup(backup)),
    );
    const { grown, held } = await watchHeap(() => people.exportBackup(backup));
    const plain = await drain(result.file.stream().pipeThrough(new DecompressionStream('gzip')));
    const { ms: importing } = await measure(() => people.importBackup(result.file));
    const { ms: verifying } = await measure(() => people.verify());
    await database.close();
    const megabytes = plain.bytes / 1e6;
    return {
      'ms to open': opening,
      'ms createBackup': creating,
      'ms loadBackup': loading,
      'MB/s exportBackup': megabytes / (exporting / 1000),
      'MB/s importBackup': megabytes / (importing / 1000),
      'MB held while exporting': held / 1e6,
      'MB held and garbage while exporting': grown / 1e6,
      'ms verify': verifying,
    };
  };

export default defineWorkload({
  name: 'backups',
  title: 'Backups of a cached collection',
  sizes: [10_000, 100_000],
  smokeSizes: [500],
  freshPage: true,
  contenders: { thread: through('thread'), worker: through('worker') },
  limits: [
    { figure: 'thread: ms createBackup', atMost: 10 },
    { figure: 'worker: ms createBackup', atMost: 10 },
    { figure: 'thread: ms loadBackup', per: 'thread: ms to open', atMost: 1 },
    { figure: 'worker: ms loadBackup', per: 'worker: ms to open', atMost: 1 },
    { figure: 'thread: MB/s exportBackup', atLeast: 30 },
    { figure: 'worker: MB/s exportBackup', atLeast: 30 },
    { figure: 'thread: MB held while exporting', atMost: 50 },
  ],
});
