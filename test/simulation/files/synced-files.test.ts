import { expect, inject, test, vi } from 'vitest';
// Before the first run: to load code takes real time.
import '../../../src/replication/files/synced-files.ts';
import { SimFiles } from '../replication-files.ts';
import type { ReplicationServer } from '../replication-server.ts';
import { runEncryptedFiles, runFiles } from '../run-replication.ts';
import { seedsOf } from '../run-seeds.ts';
import { World } from '../world.ts';

// Small files are in several parts then.
vi.mock('../../../src/replication/protocol/http-fields.ts', async (original) => ({
  ...(await original<object>()),
  PART_BYTES: 16,
}));

test.each([
  ['', runFiles],
  [', which the server cannot read', runEncryptedFiles],
] as const)(
  'the server and every browser have the files that documents name%s',
  async (_, run) => {
    for (const seed of seedsOf(30 * inject('effort'))) {
      const problems = await run(seed);
      expect(problems, `seed ${seed}\n${problems.join('\n')}`).toEqual([]);
    }
  },
  3_600_000,
);

test('files go back to a later copy after they went back to an earlier one', async () => {
  const world = new World(1);
  const documents = {} as ReplicationServer;
  const files = new SimFiles({ world, documents, isLimited: false });
  const content = files.content(0);
  const [sha256 = ''] = files.contents.keys();
  const named = new Map([['f', { f: { $file: { sha256 } } }]]);
  files.copy();
  const [file, { signal }] = [{ sha256, size: content.length }, new AbortController()];
  const remote = files.remote((_, run) => run());
  for (let at: number | undefined = 0; at !== undefined; )
    at = await world.hear(
      remote.send(file, 'device-of-a-test', at, content.subarray(at, at + 16), { signal }),
    );
  files.copy();
  files.restore(0);
  expect(await world.hear(files.problems(named, false))).toHaveLength(1);
  files.restore(1);
  expect(await world.hear(files.problems(named, false))).toEqual([]);
});
