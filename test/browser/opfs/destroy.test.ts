import { expect, test } from 'vitest';
import { connect, type DatabaseClient } from '../../../src/index.ts';
import { FOLDER, folderOf } from '../../../src/storage/opfs/delete-files.ts';
import { hasFiles } from './has-files.ts';

const open = (db: DatabaseClient) =>
  new db.Collection<{ text: string }>({ name: 'notes', type: 'DOCUMENT_BASED' });

/** The folder of a database in files; `undefined` where there is none. */
async function folder(name: string): Promise<FileSystemDirectoryHandle | undefined> {
  try {
    const root = await navigator.storage.getDirectory();
    const all = await root.getDirectoryHandle(FOLDER);
    return await all.getDirectoryHandle(await folderOf(name));
  } catch {
    return undefined;
  }
}

test('destroy() deletes the files too', async () => {
  const files = await hasFiles();
  const name = `destroyed files ${Math.random()}`;
  const db = connect({ name, storage: 'opfs' });
  await open(db).insert({ text: 'mine' });
  await db.save();
  // WebKitGTK makes folders too, and no files in them.
  if (files) expect(await folder(name)).toBeDefined();

  await db.destroy();
  expect(await folder(name)).toBeUndefined();
  const anew = connect({ name, storage: 'opfs' });
  expect(await open(anew).count({}, { archived: true })).toBe(0);
  await open(anew).insert({ text: 'new' });
  expect(await open(anew).count()).toBe(1);
  await anew.destroy();
});

test('files that something holds open do not come back', async () => {
  if (!(await hasFiles())) return expect(await folder('none')).toBeUndefined();
  const name = `held files ${Math.random()}`;
  // Of a newer epoch than what IndexedDB knows.
  for (let turn = 0; turn < 4; turn++) {
    const one = connect({ name, storage: 'opfs' });
    await open(one).insert({ text: 'mine' });
    await one.close();
  }

  // As the worker of a frozen tab does.
  const script = `onmessage = async ({ data }) => {
    if (!data) { handle.close(); postMessage('closed'); return; }
    const file = await data.getFileHandle('first');
    globalThis.handle = await file.createSyncAccessHandle();
    postMessage('open');
  };`;
  const holder = new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })));
  const told = () =>
    new Promise((resolve) => holder.addEventListener('message', resolve, { once: true }));
  const opened = told();
  holder.postMessage(await folder(name));
  await opened;
  const db = connect({ name });
  await expect(db.destroy()).rejects.toMatchObject({ code: 'database_busy' });
  const closed = told();
  holder.postMessage(undefined);
  await closed;
  holder.terminate();

  const anew = connect({ name, storage: 'opfs' });
  expect(await open(anew).count({}, { archived: true })).toBe(0);
  expect(anew.status.storage).toBe('opfs');
  await anew.destroy();
  expect(await folder(name)).toBeUndefined();
  return undefined;
});
