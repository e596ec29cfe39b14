import { expect, test } from 'vitest';
import { connect } from '../../src/cairndb.ts';

const CRASHES = 2;

let worker: Worker | undefined;

function makeWorker(): Worker {
  worker = new Worker(new URL('./throwing-engine.ts', import.meta.url), { type: 'module' });
  // The error is meant, and no failure of the test.
  worker.addEventListener('error', (event) => event.preventDefault());
  return worker;
}

/** A change that was applied may have lost its answer. */
const applied = (call: Promise<unknown>) =>
  call.catch((error: unknown) => expect(error).toMatchObject({ code: 'answer_lost' }));

for (const storage of ['indexeddb', 'opfs'] as const) {
  test(`${storage}: a worker that throws amid reads and writes is replaced; each change is applied once`, async () => {
    const connection = connect({ name: `throwing ${Math.random()}`, storage, worker: makeWorker });
    const notes = new connection.Collection<{ at: number }>({
      name: 'notes',
      type: 'DOCUMENT_BASED',
      caching: false,
    });
    let inserted = 0;
    for (let crash = 0; crash < CRASHES; crash++) {
      const calls: Promise<unknown>[] = [];
      for (let call = 0; call < 10; call++) {
        calls.push(
          applied(notes.insert({ at: inserted++ })),
          notes.save(),
          notes.find({ at: call }),
        );
        if (call === 5) worker?.postMessage('throw');
      }
      await Promise.all(calls);
      expect(await notes.count()).toBe(inserted);
    }
    await connection.close();
  });
}
