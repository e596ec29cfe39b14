import { vi } from 'vitest';
import { LocalFiles } from '../../../src/replication/files/local-files.ts';
import { SyncedFiles } from '../../../src/replication/files/synced-files.ts';
import type { Remote } from '../../../src/replication/protocol/remote.ts';
import { SealedRemote } from '../../../src/replication/sealed-remote.ts';
import { change, findsBroken } from '../broken.ts';
import { SimFiles } from '../replication-files.ts';
import { runEncryptedFiles, runFiles } from '../run-replication.ts';

// Small files are in several parts then.
vi.mock('../../../src/replication/protocol/http-fields.ts', async (original) => ({
  ...(await original<object>()),
  PART_BYTES: 16,
}));

const finds = findsBroken(runFiles);

finds('a document that is stored before its file is found out', () =>
  change(LocalFiles.prototype, 'keep', async (keep, content) => {
    const ref = await refOf(content);
    setTimeout(() => void keep(content).catch(() => undefined), 0);
    return ref;
  }),
);

finds('a file that is taken for stored, as its save has failed, is found out', () =>
  change(LocalFiles.prototype, 'keep', async function (keep, content) {
    const ref = await refOf(content);
    await keep(content).catch(() => this.unsent.set(ref.sha256, ''));
    return ref;
  }),
);

finds('a file that goes before a document of the server names it is found out', () =>
  change(LocalFiles.prototype, 'limit', async function (_, _bytes, { sha256: kept }) {
    for (const sha256 of this.unsent.keys())
      if (sha256 !== kept) await this.remove({ sha256, size: 100 });
  }),
);

finds('a device that does not send again what the server has lost is found out', () =>
  change(SyncedFiles.prototype, 'resend', async () => true),
);

finds('a server that removes files that documents name is found out', () =>
  change(SimFiles.prototype, 'collect', async (collect) => {
    const read = vi.spyOn(SimFiles.prototype, 'read').mockResolvedValue([]);
    await collect();
    read.mockRestore();
  }),
);

/** Devices whose encryption is another one. */
function changeSealing(changed: (made: SealedRemote) => void, wrap = (one: Remote<string>) => one) {
  change(SealedRemote, 'open', async (open, remote, settings) => {
    const made = await open(wrap(remote), settings);
    changed(made);
    return made;
  });
}

finds(
  'a server that does not hear which files an encrypted document has is found out',
  () => {
    const lists = new Map<unknown, unknown>();
    const without = ({ _files, ...document }: Record<string, unknown>) => {
      lists.set(document._sealed, _files);
      return document;
    };
    const whole = (document: object | null | undefined) => {
      const _files = lists.get((document as Record<string, unknown>)?._sealed);
      return document && _files ? { ...document, _files } : document;
    };
    changeSealing(
      () => undefined,
      (remote) => ({
        ...remote,
        async pull(...ask) {
          const page = await remote.pull(...ask);
          const changes = page.changes.map((one) => ({ ...one, document: whole(one.document) }));
          return { ...page, changes };
        },
        async push(rows, ask) {
          const bare = rows.map((row) => ({
            ...row,
            document: row.document && without(row.document as never),
          }));
          const results = await remote.push(bare, ask);
          return results.map((one) =>
            'conflict' in one
              ? { conflict: { ...one.conflict, document: whole(one.conflict.document) } }
              : one,
          );
        },
      }),
    );
  },
  runEncryptedFiles,
);

finds(
  'a device that opens files with its newest key alone is found out',
  () => {
    changeSealing(({ files }) => {
      const { read } = files;
      files.read = async (file, ...ask) => {
        const hash = { update: () => undefined, digest: () => Buffer.from(file.sha256, 'hex') };
        const sealing = await files.sealing();
        const newest = await sealing.name(
          { ...file, size: 0 },
          async () => undefined,
          () => hash,
        );
        const [key = ''] = newest.split('.');
        return read({ ...file, sealed: file.sealed?.replace(/^\w+/, key) }, ...ask);
      };
    });
  },
  runEncryptedFiles,
);

finds(
  'a device that does not send what has another key by now is found out',
  () => change(LocalFiles.prototype, 'noteUnsent', async () => ({}) as never),
  runEncryptedFiles,
);

async function refOf(content: Blob) {
  const { createHash } = await import('node:crypto');
  const bytes = new Uint8Array(await content.arrayBuffer());
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { sha256, size: content.size, type: content.type };
}
