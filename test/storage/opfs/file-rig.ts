import type { StorageError } from '../../../src/errors/errors.ts';
import type { StorageOperation } from '../../../src/storage/drivers/driver.ts';
import { FileDatabase } from '../../../src/storage/opfs/file-database.ts';
import { someEachTime } from '../../setup/at-night.ts';
import { MemoryFile } from './memory-file.ts';

export const put = (n: number, value: object): StorageOperation => ({
  ...{ type: 'put', store: 'segments', key: ['a', n], value },
});

export const drop = (n: number): StorageOperation => ({
  ...{ type: 'delete', store: 'segments', key: ['a', n] },
});

/** A database in two files in memory. */
export function openFiles(first = new MemoryFile(), second = new MemoryFile()) {
  const damage: StorageError[] = [];
  const database = new FileDatabase([first, second], (error) => damage.push(error));
  return { database, damage, first, second };
}

/** All values, by number. */
export async function contents(database: FileDatabase): Promise<Map<number, unknown>> {
  const keys = await database.keys('segments', ['a']);
  const values = await database.getMany('segments', keys);
  return new Map(keys.map(([, n], index) => [n as number, values[index]]));
}

/** Where a file can end: some offsets from one to another, all at night. */
export const endsOf = (from: number, to: number): readonly number[] =>
  someEachTime(Array.from({ length: to - from + 1 }, (_, at) => from + at));

/** As after a crash: the bytes, in new files. */
export const reopened = (first: Uint8Array, second = new Uint8Array(0)) =>
  openFiles(new MemoryFile(first.slice()), new MemoryFile(second.slice()));
