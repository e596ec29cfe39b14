import { expect, test } from 'vitest';
import type { Storage } from '../../../src/storage/drivers/driver.ts';
import { memoryDriver } from '../../../src/storage/drivers/memory-driver.ts';
import { findHome } from '../../../src/storage/opfs/open-opfs.ts';
import { fc, runs } from '../../setup/properties.ts';
import { openFiles, put, reopened } from './file-rig.ts';

type Files = ReturnType<typeof openFiles>;
type Bytes = readonly [first: Uint8Array<ArrayBuffer>, second: Uint8Array<ArrayBuffer>];

/** Opens the database that the files and IndexedDB have. */
async function openHome(pages: Storage, files: Files = openFiles()) {
  await findHome(files.database, pages, (error) => files.damage.push(error));
  files.database.notes.pages.add(pages);
  return files;
}

const bytesOf = ({ first, second }: Files): Bytes => [first.bytes.slice(), second.bytes.slice()];
const flushedOf = ({ first, second }: Files): Bytes => [first.flushed, second.flushed];

const emptyPages = () => memoryDriver().open('db', { damaged: () => undefined });

/** The codes of what the next opening reports. */
async function reportedOf(pages: Storage, [first, second]: Bytes) {
  const { damage } = await openHome(pages, reopened(first, second));
  return damage.map(({ code }) => code);
}

/** A database of a session that was closed, before and after some writes of another one. */
async function twoSessions() {
  const pages = await emptyPages();
  const earlier = await openHome(pages);
  await earlier.database.write([put(1, { text: 'one' })], 'relaxed');
  await earlier.database.end();
  const old = bytesOf(earlier);
  const later = await openHome(pages, reopened(...old));
  for (let n = 2; n < 9; n++) await later.database.write([put(n, { text: `${n}` })], 'relaxed');
  await later.database.end();
  return { pages, old, now: bytesOf(later), flushed: later.database.extent.length };
}

test('files that were cut anywhere, emptied, deleted or exchanged for an older copy are reported', async () => {
  const { pages, old, now, flushed } = await twoSessions();
  const nothing = new Uint8Array(0);
  expect(await reportedOf(pages, now)).toEqual([]);
  for (const [name, bytes] of Object.entries({
    older: old,
    emptied: [nothing, nothing] as Bytes,
  })) {
    const copy = await memoryCopy(pages);
    expect([name, await reportedOf(copy, bytes)]).toEqual([name, ['data_damaged']]);
  }
  for (let end = 0; end < flushed; end += 8) {
    const copy = await memoryCopy(pages);
    const reported = await reportedOf(copy, [now[0].subarray(0, end), now[1]]);
    expect([end, reported.includes('data_damaged')]).toEqual([end, true]);
  }
});

/** The same content, so that each case begins alike. */
async function memoryCopy(pages: Storage): Promise<Storage> {
  const copy = await emptyPages();
  const keys = await pages.keys('leadership', []);
  const values = await pages.getMany('leadership', keys);
  await copy.write(
    keys.map((key, at) => ({
      ...{ type: 'put', store: 'leadership', key, value: values[at] as object },
    })),
    'strict',
  );
  return copy;
}

test('a copy from before a compaction is reported, as long as it may be', async () => {
  const pages = await emptyPages();
  const files = await openHome(pages);
  const text = 'x'.repeat(1024 * 1024);
  for (let n = 0; n < 9; n++) await files.database.write([put(1, { text, n })], 'relaxed');
  const old = bytesOf(files);
  const { generation } = files.database.extent;
  while (files.database.extent.generation === generation)
    await files.database.write([put(1, { text, n: 10 })], 'relaxed').then(() => {
      return new Promise((resolve) => setTimeout(resolve));
    });
  await files.database.end();
  const now = bytesOf(files);
  expect(await reportedOf(await memoryCopy(pages), now)).toEqual([]);
  expect(await reportedOf(await memoryCopy(pages), old)).toEqual(['data_damaged']);
});

const ends = fc.constantFrom('close', 'kill', 'power cut', 'note, kill', 'note, power cut');
const sessions = fc.array(
  fc.record({
    writes: fc.array(fc.record({ n: fc.nat(3), size: fc.nat(300), isStrict: fc.boolean() }), {
      maxLength: 5,
    }),
    end: ends,
    torn: fc.nat(200),
  }),
  { minLength: 1, maxLength: 6 },
);

test('no crash is taken for damage: the file may be longer, torn, or as it was flushed', async () => {
  await fc.assert(
    fc.asyncProperty(sessions, async (all) => {
      const pages = await emptyPages();
      let bytes: Bytes = [new Uint8Array(0), new Uint8Array(0)];
      for (const { writes, end, torn } of all) {
        const files = await openHome(pages, reopened(...bytes));
        expect(files.damage).toEqual([]);
        for (const { n, size, isStrict } of writes)
          await files.database.write(
            [put(n, { text: 'a'.repeat(size) })],
            isStrict ? 'strict' : 'relaxed',
          );
        if (end.startsWith('note')) await files.database.notes.now();
        if (end === 'close') await files.database.end();
        files.database.notes.stop();
        bytes = end.endsWith('power cut') ? tornAt(files, torn) : bytesOf(files);
      }
    }),
    runs(200),
  );
});

/** What a power cut leaves: all that was flushed, and some of the rest. */
function tornAt(files: Files, torn: number): Bytes {
  const [flushed, second] = flushedOf(files);
  return [
    files.first.bytes.slice(0, Math.max(flushed.length, files.first.bytes.length - torn)),
    second,
  ];
}
