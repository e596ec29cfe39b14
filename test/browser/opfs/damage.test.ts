import { expect, test } from 'vitest';
import { encrypted } from '../../../src/encryption/index.ts';
import { type CairnError, connect } from '../../../src/index.ts';
import { FOLDER, folderOf } from '../../../src/storage/opfs/delete-files.ts';
import { hasFiles } from './has-files.ts';

async function folder(name: string): Promise<FileSystemDirectoryHandle> {
  const root = await navigator.storage.getDirectory();
  const all = await root.getDirectoryHandle(FOLDER);
  return all.getDirectoryHandle(await folderOf(name));
}

async function read(name: string): Promise<readonly ArrayBuffer[]> {
  const files = ['first', 'second'].map(async (file) => {
    const handle = await (await folder(name)).getFileHandle(file);
    return (await handle.getFile()).arrayBuffer();
  });
  return Promise.all(files);
}

async function write(name: string, contents: readonly ArrayBuffer[]): Promise<void> {
  for (const [index, file] of ['first', 'second'].entries()) {
    const handle = await (await folder(name)).getFileHandle(file);
    const stream = await handle.createWritable();
    await stream.write(contents[index] as ArrayBuffer);
    await stream.close();
  }
}

const key = new Uint8Array(32).fill(7);
const storages = { plain: () => 'opfs' as const, encrypted: () => encrypted('opfs', { key }) };

const none = new ArrayBuffer(0);
const damages = {
  cut: ([, now]) => now.map((bytes) => bytes.slice(0, Math.floor(bytes.byteLength * 0.6))),
  emptied: () => [none, none],
  'exchanged for an older copy': ([old]) => old,
  deleted: () => undefined,
} satisfies Record<
  string,
  (
    copies: readonly [old: readonly ArrayBuffer[], now: readonly ArrayBuffer[]],
  ) => readonly ArrayBuffer[] | undefined
>;

for (const [kind, storage] of Object.entries(storages))
  test.each(Object.entries(damages))(
    `files, ${kind}, that were %s are reported to the first client`,
    async (_, change) => {
      if (!(await hasFiles())) return;
      const name = `damaged files ${Math.random()}`;
      const visit = async (from: number) => {
        const db = connect({ name, storage: storage() });
        const notes = new db.Collection<{ n: number }>({ name: 'notes', type: 'DOCUMENT_BASED' });
        await notes.insertMany(Array.from({ length: 100 }, (_, n) => ({ n: from + n })));
        await db.close();
        return read(name);
      };
      const old = await visit(0);
      const changed = change([old, await visit(100)]);
      if (changed) await write(name, changed);
      else {
        const root = await navigator.storage.getDirectory();
        const all = await root.getDirectoryHandle(FOLDER);
        await all.removeEntry(await folderOf(name), { recursive: true });
      }

      const db = connect({ name, storage: storage() });
      const reported: CairnError[] = [];
      db.on('error', ({ error }) => reported.push(error as CairnError));
      const notes = new db.Collection<{ n: number }>({ name: 'notes', type: 'DOCUMENT_BASED' });
      const { whole, problems } = await notes.verify();
      expect(whole).toBe(false);
      expect(problems.map(({ code }) => code)).toContain('storage_damaged');
      expect(reported.map(({ code }) => code)).toContain('data_damaged');
      expect(db.status.last_error).toMatchObject({ code: 'data_damaged' });
      await db.close();
    },
  );
