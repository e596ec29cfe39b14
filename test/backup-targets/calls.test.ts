import { expect, test } from 'vitest';
import { inParallel } from '../../src/backup-targets/calls/target-calls.ts';
import { webdav } from '../../src/backup-targets/index.ts';
import { backUpIn, newDatabase, newEnvironment, rowsFrom } from './device.ts';
import { MemoryTarget } from './memory-target.ts';

const nextTask = () => new Promise((resolve) => setTimeout(resolve));

test('after a failure no more calls begin, and none runs any more', async () => {
  const begun: number[] = [];
  let running = 0;
  const items = Array.from({ length: 50 }, (_, n) => n);
  const failed = inParallel(items, async (n) => {
    begun.push(n);
    running++;
    await nextTask();
    running--;
    if (n === 1) throw new RangeError('one');
    return n;
  });
  await expect(failed).rejects.toThrow('one');
  expect(running).toBe(0);
  expect(begun.length).toBeLessThan(10);
});

test('bytes of uploads at the same time are all counted', async () => {
  const { db, rows } = newDatabase();
  await rows.insertMany(rowsFrom(0, 10_000));
  const target = new MemoryTarget();
  target.before = async () => void (await nextTask());
  const { sent_bytes } = await backUpIn(newEnvironment(), db, target, { device: 'laptop' }).run();
  expect(target.paths('parts').length).toBeGreaterThan(4);
  const stored = target.paths('parts').map((path) => target.objects.get(path)?.length ?? 0);
  expect(sent_bytes).toBe(stored.reduce((sum, length) => sum + length, 0));
});

test('an upload to WebDAV that its caller has given up is not begun a second time beside it', async () => {
  const calls: string[] = [];
  let finish: () => void = () => undefined;
  const target = webdav({
    url: 'https://nas.example/dav/',
    fetch: async (url, { method = '' }) => {
      calls.push(`${method} ${new URL(url).pathname}`);
      if (method === 'PUT') await new Promise<void>((resolve) => (finish = resolve));
      return new Response(null, { status: 201 });
    },
  });
  const bytes = new Uint8Array(9);
  const first = target.put('part', bytes);
  while (calls.length === 0) await nextTask();
  const again = target.put('part', bytes);
  // Sealed anew for each attempt, say.
  const others = [8, 7].map((length) => target.put('part', new Uint8Array(length)));
  await nextTask();
  expect(calls).toEqual(['PUT /dav/part.uploading']);
  finish();
  await Promise.all([first, again]);
  for (const [at, other] of others.entries()) {
    while (calls.length < 3 + 2 * at) await nextTask();
    finish();
    await other;
  }
  const uploaded = ['PUT /dav/part.uploading', 'MOVE /dav/part.uploading'];
  expect(calls).toEqual([...uploaded, ...uploaded, ...uploaded]);
});
