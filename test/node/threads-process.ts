/**
 * node program.mjs <directory>: four threads open the database `shop` at once; all live on. Prints
 * what each got, `open` or the code of the refusal, and what a deletion gets then. Ends the thread
 * that has it at SIGUSR2, and prints what an opening gets after that.
 */
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { files } from '../../src/node/index.ts';

const directory: string = workerData ?? process.argv[2];
const driver = files(directory);

const outcome = (work: Promise<unknown> | undefined) =>
  Promise.resolve(work).then(
    () => 'open',
    (error: { code?: string }) => String(error.code),
  );
const openIt = () => outcome(driver.open('shop', { damaged: () => undefined }));

if (isMainThread) await main();
else {
  // It lives while its port is listened to.
  parentPort?.on('message', () => undefined);
  parentPort?.postMessage(await openIt());
}

async function main(): Promise<void> {
  const program = fileURLToPath(import.meta.url);
  const threads = Array.from({ length: 4 }, () => new Worker(program, { workerData: directory }));
  const replies = threads.map(
    (thread) => new Promise<string>((resolve) => thread.once('message', resolve)),
  );
  const got = await Promise.all(replies);
  console.log(got.toSorted().join(' '));
  console.log(await outcome(driver.delete?.('shop')));
  console.log(await openIt());
  process.once('SIGUSR2', async () => {
    await threads[got.indexOf('open')]?.terminate();
    console.log(await openIt());
  });
  console.log('waits');
}
