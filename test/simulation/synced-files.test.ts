import { expect, inject, test, vi } from 'vitest';
// Before the first run: to load code takes real time.
import '../../src/replication/files/synced-files.ts';
import { runEncryptedFiles, runFiles } from './run-replication.ts';
import { FIRST } from './run-seeds.ts';

// Small files are in several parts then.
vi.mock('../../src/replication/protocol/http-fields.ts', async (original) => ({
  ...(await original<object>()),
  PART_BYTES: 16,
}));

/** `SEEDS=20000` runs more, `SEED=…` begins elsewhere. */
const SEEDS = Number(process.env.SEEDS ?? 30 * inject('effort'));

test.each([
  ['', runFiles],
  [', which the server cannot read', runEncryptedFiles],
] as const)(
  'the server and every browser have the files that documents name%s',
  async (_, run) => {
    for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
      const problems = await run(seed);
      expect(problems, `seed ${seed}\n${problems.join('\n')}`).toEqual([]);
    }
  },
  3_600_000,
);
