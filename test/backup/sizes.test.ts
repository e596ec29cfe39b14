import { expect, test } from 'vitest';
import { openClient } from '../engine/engine-client.ts';
import { settled } from '../engine/fake-clock.ts';
import { allAtNight } from '../setup/at-night.ts';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { bytesOf, readStored } from './stored.ts';

const DAY = 86_400_000;

/** The documents changed on a day: 1 %. */
const patterns: Record<string, (day: number, n: number, size: number) => number> = {
  'at random': (day, n, size) => (day * 7919 + n * 104_729 + day * n) % size,
  'always the same': (_, n) => n,
  'in turn': (day, n, size) => (day * (size / 100) + n) % size,
};

test.each(
  Object.keys(patterns).flatMap((pattern) =>
    allAtNight([1000, 10_000], [1000]).flatMap((size) =>
      [5, 1_000_000].map((atOnce) => ({ pattern, size, atOnce })),
    ),
  ),
)(
  'thirty days of backups hold at most 1.7 times the data: $size documents, changed $pattern, saved after $atOnce',
  async ({ pattern, size, atOnce }) => {
    const driver = faultyDriver();
    const { client, clock } = openClient(driver);
    const things = new client.Collection<{ n: number; text: string }>({
      name: 'things',
      type: 'DOCUMENT_BASED',
      save_directly_after: atOnce,
      auto_create_backup: true,
      backup_retention_time: 31,
    });
    const textOf = (n: number, day: number) => `${n} on day ${day} ${'x'.repeat(230)}`;
    await things.insertMany(
      Array.from({ length: size }, (_, n) => ({ _id: `d${n}`, n, text: textOf(n, 0) })),
    );
    await things.save();
    await expect.poll(() => things.listBackups()).toHaveLength(1);
    const own = bytesOf(await readStored(driver));
    const changes = patterns[pattern] as (typeof patterns)[string];
    for (let day = 1; day <= 30; day++) {
      for (let n = 0; n < size / 100; n++) {
        const at = changes(day, n, size);
        await things.update(`d${at}`, { n: at, text: textOf(at, day) });
      }
      await settled();
      await clock.advance(DAY);
    }
    await things.save();
    await settled();
    const backups = await things.listBackups();
    expect(backups.length).toBeGreaterThanOrEqual(30);
    const stored = bytesOf(await readStored(driver));
    expect(stored.counted / own.counted).toBeLessThan(1.7);
    // With manifests, which weigh more for few documents, and checksums: ten characters each as
    // JSON.
    expect(stored.json / own.json).toBeLessThan(size === 1000 ? 1.75 : 1.71);
    expect((await things.verify()).whole).toBe(true);
    await client.close();
  },
);
