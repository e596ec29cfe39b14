import { expect, inject, test, vi } from 'vitest';
// Before the first run: to load code takes real time.
import '../../../src/replication/files/synced-files.ts';
import { runCouchFiles } from '../run-replication.ts';
import { seedsOf } from '../run-seeds.ts';

// Files are in several parts then, and requests are not given hours.
vi.mock('../../../src/replication/protocol/http-fields.ts', async (original) => ({
  ...(await original<object>()),
  PART_BYTES: 1024,
}));

test('what documents of CouchDB name is attached once, and read on every device', async () => {
  for (const seed of seedsOf(10 * inject('effort'))) {
    const problems = await runCouchFiles(seed);
    expect(problems, `seed ${seed}\n${problems.join('\n')}`).toEqual([]);
  }
}, 3_600_000);
