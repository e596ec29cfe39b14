import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { documentFiles, type FileStore, memoryFiles } from '../../src/server/files/index.ts';
import { createHandler, memory } from '../../src/server/index.ts';
import { fileStories } from './file-stories.ts';

describe('memoryFiles()', () => fileStories(memoryFiles));

test.each([
  [{}, 'option_missing', 'store'],
  [{ store: memoryFiles(), limit: 0 }, 'option_invalid', 'limit'],
  [{ store: memoryFiles(), grace: Number.NaN }, 'option_invalid', 'grace'],
])('documentFiles(%j) is refused', (options, code, place) => {
  expect(() => documentFiles(options as never)).toThrow(expect.objectContaining({ code, place }));
});

const hash = 'a'.repeat(64);

test.each([
  ['GET', `${hash}?device=short`, 400],
  ['PUT', hash, 400],
  ['PUT', `${hash}?device=${'d'.repeat(20)}&size=-1&from=0`, 400],
  ['PUT', `${hash}?device=${'d'.repeat(20)}&size=1e400&from=0`, 400],
  ['PUT', `${hash}?device=${'d'.repeat(20)}&size=5`, 400],
  ['DELETE', hash, 405],
  ['GET', hash, 404],
  ['GET', `${hash}0`, 200],
  ['GET', hash.toUpperCase(), 200],
])('%s %s is answered with %i', async (method, target, status) => {
  const handler = createHandler({
    ...{ store: memory(), authorize: () => true },
    files: documentFiles({ store: memoryFiles() }),
  });
  const url = `https://example.com/jobs/files/${target}`;
  const body = method === 'PUT' ? { body: 'x' } : {};
  const response = await handler(new Request(url, { method, ...body }));
  expect(response.status).toBe(status);
});

test('a part has at most 1 MB, whatever its headers say', async () => {
  const handler = createHandler({
    ...{ store: memory(), authorize: () => true },
    files: documentFiles({ store: memoryFiles() }),
  });
  const url = `https://example.com/jobs/files/${hash}?device=${'d'.repeat(20)}&size=9000000&from=0`;
  const body = new Uint8Array(1024 * 1024 + 1);
  const response = await handler(new Request(url, { method: 'PUT', body }));
  expect(response.status).toBe(413);
});

test('an upload that a restored copy has not got goes on from what it has', async () => {
  const bytes = Buffer.from('a photo');
  let store = memoryFiles();
  const restoring = new Proxy({} as FileStore, {
    get:
      (_, name: keyof FileStore) =>
      (...args: never[]) => {
        if (name === 'uploaded' && store === first) store = memoryFiles();
        return (store[name] as (...all: never[]) => unknown)(...args);
      },
  });
  const first = store;
  const handler = createHandler({
    ...{ store: memory(), authorize: () => true },
    files: documentFiles({ store: restoring }),
  });
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const query = `device=${'d'.repeat(20)}&size=${bytes.length}&from=0`;
  const send = async () => {
    const url = `https://example.com/jobs/files/${sha256}?${query}`;
    const response = await handler(new Request(url, { method: 'PUT', body: bytes }));
    return response.json();
  };
  expect(await send()).toMatchObject({ received: 0 });
  expect(await send()).toMatchObject({ done: true });
});
