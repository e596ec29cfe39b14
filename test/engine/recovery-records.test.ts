import { expect, test } from 'vitest';
import { type RecoveryRecord, RecoveryRecords } from '../../src/protocol/recovery-records.ts';

const record = (client: string, count: number, store: string) =>
  ({
    ...{ client, ending: 1, database: store, opened: [] },
    changes: Array.from({ length: count }, (_, number) => ({ number })),
  }) as unknown as RecoveryRecord;

test('of a stored record and its journal the one with more changes is replayed', async () => {
  const stored = [record('a', 1, 'store'), record('b', 2, 'store'), record('c', 1, 'store')];
  const journals = [
    record('a', 2, 'journal'),
    record('b', 1, 'journal'),
    record('d', 1, 'journal'),
  ];
  const storage = { left: async () => stored };
  const records = new RecoveryRecords(
    storage as never,
    'relaxed',
    Promise.resolve(journals),
    () => undefined,
  );
  const listed = (await records.list()).map(({ client, database }) => `${client} ${database}`);
  expect(listed.sort()).toEqual(['a journal', 'b store', 'c store', 'd journal']);
});
