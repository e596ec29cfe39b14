import { expect, test } from 'vitest';
import { connect, migrateStorage } from '../../src/index.ts';
import { undo } from '../../src/undo/index.ts';
import { hasFiles } from './opfs/has-files.ts';

let names = 0;
const newName = () => `platform values ${++names} ${Math.random()}`;
const SETTINGS = { name: 'devices', type: 'DOCUMENT_BASED' } as const;
const iv = new Uint8Array(12);

/** Whether this browser's IndexedDB keeps handles of files. */
async function storesHandles(): Promise<boolean> {
  try {
    structuredClone(await navigator.storage.getDirectory());
    return true;
  } catch {
    return false;
  }
}

test('a key that cannot be exported comes back from IndexedDB, by the worker', async () => {
  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, [
    'encrypt',
    'decrypt',
  ]);
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, new Uint8Array([7]));
  const name = newName();
  const first = connect({ name });
  const devices = new first.Collection<{ key: CryptoKey; at: number }>({ ...SETTINGS });
  const { _id } = await devices.insert({ key, at: 1 });
  await devices.patchOne({ _id }, { $inc: { at: 1 } });
  await devices.modify(_id, (device) => ({ ...device, at: device.at + 1 }));
  await first.close();

  const second = connect({ name });
  const again = new second.Collection<{ key: CryptoKey; at: number }>({ ...SETTINGS });
  const found = await again.get(_id);
  expect(found?.at).toBe(3);
  const opened = await crypto.subtle.decrypt(
    { name: 'AES-GCM', iv },
    found?.key as CryptoKey,
    sealed,
  );
  expect(new Uint8Array(opened)).toEqual(new Uint8Array([7]));
  await second.destroy();
});

test('a handle of a file comes back, and reads it', async () => {
  if (!(await hasFiles()) || !(await storesHandles())) return;
  const root = await navigator.storage.getDirectory();
  const handle = await root.getFileHandle('kept handle.txt', { create: true });
  const writable = await handle.createWritable();
  await writable.write('hello');
  await writable.close();
  const name = newName();
  const first = connect({ name });
  const recent = new first.Collection<{ handle: FileSystemFileHandle }>({ ...SETTINGS });
  const { _id } = await recent.insert({ handle });
  await first.close();
  const second = connect({ name });
  const again = new second.Collection<{ handle: FileSystemFileHandle }>({ ...SETTINGS });
  const file = await (await again.get(_id))?.handle.getFile();
  expect(await file?.text()).toBe('hello');

  // A handle is the same as another of its file.
  const history = undo(second, { collections: [again] });
  const other = await root.getFileHandle('other handle.txt', { create: true });
  await again.insert({ _id: 'b', handle });
  await again.patch('b', { handle: other });
  await history.undo();
  expect((await again.get('b'))?.handle.name).toBe('kept handle.txt');
  expect(await history.undo()).toEqual({ label: undefined, changed: 1, skipped: [] });
  await second.destroy();
  await root.removeEntry('kept handle.txt');
  await root.removeEntry('other handle.txt');
});

test('files take no key: an insert is refused, and a database that has one does not move', async () => {
  const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt']);
  const refused = { name: 'ValueError', code: 'value_unsupported' };
  const files = connect({ name: newName(), storage: 'opfs' });
  const devices = new files.Collection<Record<string, unknown>>({ ...SETTINGS });
  await expect(devices.insert({ key })).rejects.toMatchObject(refused);
  await devices.insert({ label: 'phone' });
  await files.save();
  expect(await devices.count()).toBe(1);
  await files.destroy();
  if (!(await hasFiles())) return;

  const name = newName();
  const first = connect({ name });
  await new first.Collection<Record<string, unknown>>({ ...SETTINGS }).insert({ _id: 'a', key });
  await first.close();
  await expect(migrateStorage({ name, to: 'opfs' })).rejects.toMatchObject(refused);
  const second = connect({ name });
  const again = new second.Collection<Record<string, unknown>>({ ...SETTINGS });
  expect((await again.get('a'))?.key).toBeInstanceOf(CryptoKey);
  // Not by a Response, which hides the error.
  const file = async (made: Promise<ReadableStream>) => {
    const reader = (await made).getReader();
    while (!(await reader.read()).done);
  };
  const backup = await again.createBackup();
  await expect(file(again.exportBackup(backup))).rejects.toMatchObject(refused);
  await expect(file(second.exportAll())).rejects.toMatchObject(refused);
  await second.destroy();
});
