import { expect, test } from 'vitest';
import { connect } from '../../src/index.ts';
import { MessageWorker } from './message-worker.ts';

test('however often a worker that works crashes, another goes on with everything', async () => {
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

/** Comes up, and crashes over the first thing that is asked of its collections. */
class HopelessWorker extends MessageWorker {
  override postMessage(message: unknown, transfer?: Transferable[]): void {
    const { path } = message as { path?: readonly string[] };
    if (path?.includes('execute')) setTimeout(() => this.fail('crashed'));
    else super.postMessage(message, transfer);
  }
}

test('a worker that crashes before it has answered anything is not begun for ever', async () => {
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
