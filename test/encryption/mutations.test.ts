import { expect, test } from 'vitest';
import { encrypted } from '../../src/encryption/index.ts';
import { Database, memoryDriver, type StorageDriver } from '../../src/index.ts';
import { fc, runs } from '../setup/properties.ts';
import { type RawValue, readRaw, sameKey, writeRaw } from './raw-values.ts';

const key = new Uint8Array(32).fill(8);
const NAMES = ['a', 'b'];

/**
 * Opens the database, and returns all of its documents and backups, or the code of the error that
 * opening reports.
 */
async function contentOf(driver: StorageDriver): Promise<unknown> {
  const db = new Database({ name: 'm', storage: encrypted(driver, { key }) });
  const reported: unknown[] = [];
  db.on('error', ({ error }) => reported.push((error as { code?: string }).code));
  try {
    const content: unknown[] = [];
    for (const name of NAMES) {
      const documents = new db.Collection({ name, type: 'DOCUMENT_BASED' });
      content.push(await documents.filter({}), await documents.listBackups());
    }
    return reported.length > 0 ? reported[0] : content;
  } catch (error) {
    return (error as { code?: string }).code;
  } finally {
    await db.close().catch(() => undefined);
  }
}

/** A database with a history: what was stored at several moments. */
async function history(driver: StorageDriver): Promise<RawValue[][]> {
  const moments: RawValue[][] = [];
  for (let round = 0; round < 4; round++) {
    const db = new Database({ name: 'm', storage: encrypted(driver, { key }) });
    for (const name of NAMES) {
      const documents = new db.Collection({ name, type: 'DOCUMENT_BASED' });
      await documents.insertMany(
        Array.from({ length: 400 }, (_, n) => ({ _id: `${round}.${n}`, text: 'x'.repeat(300) })),
      );
      await documents.save();
      await documents.insert({ _id: `${round}`, round });
      await documents.save();
      await documents.patch(`${round}.1`, { changed: round });
      // The manifest changes, and no segment does.
      if (round === 2) {
        const backup = await documents.createBackup({ label: 'kept' });
        await documents.insert({ _id: 'undone' });
        await documents.loadBackup(backup);
      }
    }
    await db.save();
    moments.push(await readRaw(driver, 'm'));
    await db.close();
  }
  moments.push(await readRaw(driver, 'm'));
  return moments;
}

/** Clear by design: an epoch that is put back gives no document back. */
const isSealed = ({ value }: RawValue) => 'sealed' in value;

test('a value that is flipped, swapped, put back or taken away changes nothing, or is noticed', async () => {
  const driver = memoryDriver();
  const moments = await history(driver);
  const now = moments.at(-1) as RawValue[];
  const intact = await contentOf(driver);
  expect(intact).toBeInstanceOf(Array);
  const sealed = now.filter(isSealed);
  // Opening may write: each mutation begins with what was there.
  const restore = async () => {
    const all = await readRaw(driver, 'm');
    const added = all.filter((one) => !now.some((other) => sameKey(one, other)));
    await writeRaw(driver, 'm', [...now, ...added.map((one) => ({ ...one, value: undefined }))]);
  };
  const at = fc.nat().map((n) => sealed[n % sealed.length] as RawValue);
  const mutation = fc.oneof(
    fc.record({ kind: fc.constant('flip' as const), one: at, other: at, bit: fc.nat() }),
    fc.record({ kind: fc.constant('swap' as const), one: at, other: at, bit: fc.nat() }),
    fc.record({ kind: fc.constant('copy' as const), one: at, other: at, bit: fc.nat() }),
    fc.record({ kind: fc.constant('old' as const), one: at, other: at, bit: fc.nat() }),
    fc.record({ kind: fc.constant('gone' as const), one: at, other: at, bit: fc.nat() }),
  );
  const found = new Set<string>();
  await fc.assert(
    fc.asyncProperty(mutation, async ({ kind, one, other, bit }) => {
      // Backups are values of their own: the guide says that one which is taken away is missed by
      // nobody.
      if (one.store === 'snapshots') return;
      await restore();
      if (kind === 'flip') {
        const bytes = (one.value as { sealed: Uint8Array }).sealed.slice();
        const place = bit % (bytes.length * 8);
        bytes[place >> 3] = (bytes[place >> 3] as number) ^ (1 << (place & 7));
        await writeRaw(driver, 'm', [{ ...one, value: { ...one.value, sealed: bytes } }]);
      } else if (kind === 'swap') {
        if (other.store === 'snapshots') return;
        const values = [one.value, other.value];
        await writeRaw(driver, 'm', [
          { ...one, value: values[1] },
          { ...other, value: values[0] },
        ]);
      } else if (kind === 'copy') await writeRaw(driver, 'm', [{ ...one, value: other.value }]);
      else if (kind === 'old') {
        const before = moments[bit % 4]?.find((old) => sameKey(old, one));
        await writeRaw(driver, 'm', [{ ...one, value: before?.value }]);
      } else await writeRaw(driver, 'm', [{ ...one, value: undefined }]);
      const content = await contentOf(driver);
      if (content === 'data_damaged') found.add(kind);
      else expect(content).toEqual(intact);
    }),
    runs(120),
  );
  expect([...found].sort()).toEqual(['copy', 'flip', 'gone', 'old', 'swap']);
});

test('each manifest that is put back is noticed, and each newest segment that is taken away', async () => {
  const driver = memoryDriver();
  const moments = await history(driver);
  const now = moments.at(-1) as RawValue[];
  let count = 0;
  for (const one of now.filter(({ store }) => store === 'collections')) {
    for (const moment of moments.slice(0, -1)) {
      const before = moment.find((old) => sameKey(old, one));
      if (!before || JSON.stringify(before.value) === JSON.stringify(one.value)) continue;
      await writeRaw(driver, 'm', [before]);
      expect(await contentOf(driver)).toBe('data_damaged');
      await writeRaw(driver, 'm', [one]);
      count++;
    }
    const newest = now
      .filter(({ store, key: [code] }) => store === 'segments' && code === one.key[0])
      .at(-1) as RawValue;
    await writeRaw(driver, 'm', [{ ...newest, value: undefined }]);
    expect(await contentOf(driver)).toBe('data_damaged');
    await writeRaw(driver, 'm', [newest]);
  }
  expect(count).toBeGreaterThan(1);
  expect(await contentOf(driver)).toBeInstanceOf(Array);
});
