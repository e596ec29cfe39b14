import { wrap } from 'comlink';
import { expect, test } from 'vitest';
import { nextTurn } from '../../src/engine/scheduling/next-turn.ts';
import { serve, type WorkerApi } from '../../src/transport/worker/worker-host.ts';
import { settings } from '../engine/live-session.ts';

test('a worker that has thrown saves nothing more: its page retries with another', async () => {
  const { port1, port2 } = new MessageChannel();
  serve(port2);
  port2.start();
  const api = wrap<WorkerApi>(port1);
  const database = { name: 'thrown', storage: 'memory', durability: 'relaxed' } as const;
  const term = { leader: 'a', locked: true, stolen: false, journals: [], expected: [] };
  await api.open(database as never, term);
  await api.join('client');
  const insert = (id: string) => ({ op: 'insert', handle: 1, id, body: '{}' }) as const;
  await api.execute([{ op: 'open', handle: 1, settings }, insert('a')], [], 1);
  expect(await api.save(2)).toBe(undefined);

  port2.dispatchEvent(new Event('error', { cancelable: true }));
  await nextTurn();
  await api.execute([insert('b')], [], 3);
  expect(await api.save(4)).toMatchObject({ code: 'database_taken' });
  port1.close();
});
