import { beforeAll, expect, test } from 'vitest';
import type { StorageDriver } from '../../src/storage/drivers/driver.ts';
import { FileDatabase } from '../../src/storage/opfs/file-database.ts';
import { Random } from '../setup/random.ts';
import { MemoryFile } from '../storage/opfs/memory-file.ts';
import { type Answers, ask, fill } from './mutated-world.ts';
import { unnoticed } from './unnoticed.ts';

/** Storage in a file in memory. */
function fileDriver(bytes: Uint8Array): { driver: StorageDriver; file: MemoryFile } {
  const file = new MemoryFile(bytes as Uint8Array<ArrayBuffer>);
  const driver: StorageDriver = {
    kind: 'files',
    open: async (_, { damaged }) => {
      const files = new FileDatabase([file, new MemoryFile()], damaged);
      return {
        getMany: (store, keys) => files.getMany(store, keys),
        list: (store, range) => files.list(store, range),
        keys: (store, prefix) => files.keys(store, prefix),
        getItem: (store, key, field, index) => files.getItem(store, key, field, index),
        write: (operations, durability) => files.write(operations, durability),
        close: () => files.end(),
      };
    },
  };
  return { driver, file };
}

let bytes: Uint8Array;
let expected: Answers;

beforeAll(async () => {
  const { driver, file } = fileDriver(new Uint8Array(0));
  await fill(driver);
  bytes = file.bytes;
  ({ answers: expected } = await ask({ driver: fileDriver(bytes).driver, caching: true }));
}, 60_000);

test.each([true, false])('what is whole answers everything, caching %s', async (caching) => {
  const { answers, said } = await ask({ driver: fileDriver(bytes).driver, caching });
  expect(answers).toEqual(expected);
  expect(said).toEqual([]);
});

test.each([1, 2, 3, 4])(
  'no flipped bit of a file gives a wrong answer without a word, part %i of them',
  async (part) => {
    const random = new Random(part);
    const silent: string[] = [];
    for (let turn = 0; turn < 60; turn++) {
      const damaged = bytes.slice();
      const at = random.below(bytes.length);
      damaged[at] = (damaged[at] as number) ^ (1 << random.below(8));
      const report = await ask({ driver: fileDriver(damaged).driver, caching: part < 3 });
      silent.push(...unnoticed(report, expected).map((what) => `byte ${at}: ${what}`));
    }
    expect(silent).toEqual([]);
  },
  120_000,
);
