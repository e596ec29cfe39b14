import { expect, test } from 'vitest';
import { connect } from '../../src/index.ts';
import { MessageWorker } from './message-worker.ts';

test('a worker that answered between crashes is always replaced, without loss', async () => {
  const workers: MessageWorker[] = [];
  const db = connect({
    name: 'crashing worker',
    worker: () => {
      const worker = new MessageWorker();
      workers.push(worker);
      return worker.asWorker;
    },
  });
  const notes = new db.Collection({ name: 'notes', type: 'DOCUMENT_BASED', save_timeout: 3600 });
  for (let crash = 1; crash <= 8; crash++) {
    await notes.insert({ _id: `n${crash}` });
    workers.at(-1)?.fail('crashed');
    expect(await notes.count()).toBe(crash);
    expect(workers).toHaveLength(crash + 1);
  }
  await db.close();
});

/** A worker that starts, then crashes on the first request to a collection. */
class HopelessWorker extends MessageWorker {
  override postMessage(message: unknown, transfer?: Transferable[]): void {
    const { path } = message as { path?: readonly string[] };
    if (path?.includes('execute')) setTimeout(() => this.fail('crashed'));
    else super.postMessage(message, transfer);
  }
}

test('a worker that crashes before its first answer is not restarted for ever', async () => {
  let begun = 0;
  const db = connect({
    name: 'hopeless worker',
    worker: () => {
      begun++;
      return new HopelessWorker().asWorker;
    },
  });
  const notes = new db.Collection({ name: 'notes', type: 'DOCUMENT_BASED' });
  await expect(notes.count()).rejects.toMatchObject({ name: 'WorkerError', code: 'worker_lost' });
  await expect(notes.insert({})).rejects.toMatchObject({ code: 'worker_lost' });
  expect(begun).toBeLessThan(10);
});
