import { afterEach, expect, test, vi } from 'vitest';
import { LocalFiles } from '../../src/replication/files/local-files.ts';
import { SyncedFiles } from '../../src/replication/files/synced-files.ts';
import { SimFiles } from './replication-files.ts';
import { runFiles } from './run-replication.ts';
import { firstFailure } from './run-seeds.ts';

// Small files are in several parts then.
vi.mock('../../src/replication/protocol/http-fields.ts', async (original) => ({
  ...(await original<object>()),
  PART_BYTES: 16,
}));

afterEach(() => vi.restoreAllMocks());

const PATIENCE = 600_000;
/** Each of these is found within so many seeds. */
const SOON = 300;

async function expectFound(): Promise<void> {
  const seed = await firstFailure(runFiles, { seeds: SOON });
  if (process.env.TRACE) console.log(expect.getState().currentTestName, seed);
  expect(seed).toBeDefined();
}

test(
  'a document that is stored before its file is found out',
  async () => {
    const { keep } = LocalFiles.prototype;
    vi.spyOn(LocalFiles.prototype, 'keep').mockImplementation(async function (
      this: LocalFiles,
      content,
    ) {
      const ref = await refOf(content);
      setTimeout(() => void keep.call(this, content).catch(() => undefined), 0);
      return ref;
    });
    await expectFound();
  },
  PATIENCE,
);

test(
  'a file that is taken for stored, as its save has failed, is found out',
  async () => {
    const { keep } = LocalFiles.prototype;
    vi.spyOn(LocalFiles.prototype, 'keep').mockImplementation(async function (
      this: LocalFiles,
      content,
    ) {
      const ref = await refOf(content);
      await keep.call(this, content).catch(() => this.unsent.add(ref.sha256));
      return ref;
    });
    await expectFound();
  },
  PATIENCE,
);

test(
  'a file that goes before a document of the server names it is found out',
  async () => {
    vi.spyOn(LocalFiles.prototype, 'limit').mockImplementation(async function (
      this: LocalFiles,
      _bytes,
      { sha256: kept },
    ) {
      for (const sha256 of this.unsent)
        if (sha256 !== kept) await this.remove({ sha256, size: 100 });
    });
    await expectFound();
  },
  PATIENCE,
);

test(
  'a device that does not send again what the server has lost is found out',
  async () => {
    vi.spyOn(SyncedFiles.prototype, 'resend').mockResolvedValue(true);
    await expectFound();
  },
  PATIENCE,
);

test(
  'a server that removes files that documents name is found out',
  async () => {
    const { collect } = SimFiles.prototype;
    vi.spyOn(SimFiles.prototype, 'collect').mockImplementation(async function (this: SimFiles) {
      const read = vi.spyOn(SimFiles.prototype, 'read').mockResolvedValue([]);
      await collect.call(this);
      read.mockRestore();
    });
    await expectFound();
  },
  PATIENCE,
);

async function refOf(content: Blob) {
  const { createHash } = await import('node:crypto');
  const bytes = new Uint8Array(await content.arrayBuffer());
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { sha256, size: content.size, type: content.type };
}
