import { afterEach, expect, test, vi } from 'vitest';
import * as lib from '../../src/index.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test('without workers connect() runs in the thread and says so', async () => {
  vi.stubGlobal('Worker', undefined);
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const connection = lib.connect({ name: `no worker ${Math.random()}`, storage: 'memory' });
  const things = new connection.Collection({ name: 'things', type: 'DOCUMENT_BASED' });
  await things.insert({ n: 1 });
  expect(await things.count()).toBe(1);
  expect(connection.status).toMatchObject({
    engine: 'thread',
    started: 'thread',
    storage: 'memory',
  });
  expect(warn.mock.calls.some(([text]) => String(text).includes('thread'))).toBe(true);
  await connection.close();
});
