import { afterEach, expect, test, vi } from 'vitest';
import * as lib from '../../src/cairndb.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

test('without workers connect() runs in the thread, and its status says so', async () => {
  vi.stubGlobal('Worker', undefined);
  const connection = lib.connect({ name: `no worker ${Math.random()}`, storage: 'memory' });
  const things = new connection.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
  await things.insert({ n: 1 });
  expect(await things.count()).toBe(1);
  expect(connection.status).toMatchObject({
    engine: 'thread',
    started: 'thread',
    storage: 'memory',
  });
  await connection.close();
});
