import { wrap } from 'comlink';
import { expect, test } from 'vitest';
import { nextTurn } from '../../src/async/next-turn.ts';
import { serve } from '../../src/engine/host/worker-host.ts';
import type { WorkerApi } from '../../src/protocol/wire-protocol.ts';
import { settings } from '../engine/live-session.ts';

const insert = (id: string) => ({ op: 'insert', handle: 1, id, body: '{}' }) as const;

/** A worker with one document, saved. */
async function openWorker() {
  const { port1, port2 } = new MessageChannel();
  serve(port2);
  port2.start();
  const api = wrap<WorkerApi>(port1);
  const database = { name: 'served', storage: 'memory', durability: 'relaxed' } as const;
  const term = { leader: 'a', locked: true, stolen: false, journals: [], expected: [] };
  await api.open(database as never, term);
  await api.join('client');
  await api.execute([{ op: 'open', handle: 1, settings }, insert('a')], [], 1);
  expect(await api.save(2)).toBe(undefined);
  return { api, scope: port2, close: () => port1.close() };
}

test('a worker that has thrown saves nothing more: its page retries with another', async () => {
  const { api, scope, close } = await openWorker();

  scope.dispatchEvent(new Event('error', { cancelable: true }));
  await nextTurn();
  await api.execute([insert('b')], [], 3);
  expect(await api.save(4)).toMatchObject({ code: 'database_taken' });
  close();
});

test('a worker whose page may end begins no write for a second, then goes on', async () => {
  const { api, close } = await openWorker();
  const began = performance.now();
  await api.pause();
  await api.execute([insert('b')], [], 3);
  expect(await api.save(4)).toBe(undefined);
  // Timers may be early by a little.
  expect(performance.now() - began).toBeGreaterThan(900);
  close();
});
