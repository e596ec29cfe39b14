import { expect, test } from 'vitest';
import { changePassword, type EncryptionKey, encrypted } from '../../../src/encryption/index.ts';
import { connect, migrateStorage } from '../../../src/index.ts';
import { hasFiles } from './has-files.ts';

type Kind = 'opfs' | 'indexeddb';

const files = await hasFiles();
const key = new Uint8Array(32).fill(1);
const NUMBERS = Array.from({ length: 900 }, (_, n) => n);

let names = 0;
const newName = () => `encrypted ${++names} ${Math.random()}`;
const code = (expected: string) => expect.objectContaining({ code: expected });

function open(name: string, storage: Kind, with_key: EncryptionKey = key) {
  const db = connect({ name, storage: encrypted(storage, { key: with_key }) });
  return {
    db,
    people: new db.Collection<{ n: number }>({ name: 'people', type: 'DOCUMENT_BASED' }),
  };
}

async function fill(name: string, storage: Kind, with_key?: EncryptionKey) {
  const { db, people } = open(name, storage, with_key);
  await people.insertMany(Array.from({ length: 1000 }, (_, n) => ({ _id: `p${n}`, n })));
  await people.createBackup({ label: 'before' });
  await people.deleteMany({ n: { $gte: 900 } });
  await db.close();
}

async function read(name: string, storage: Kind, with_key?: EncryptionKey) {
  const { db, people } = open(name, storage, with_key);
  try {
    const found = await people.filter({});
    const backups = await people.listBackups();
    const { storage: kind, encrypted: isEncrypted } = db.status;
    return {
      numbers: found.map(({ n }) => n),
      labels: backups.map(({ label }) => label),
      ...{ kind, isEncrypted },
    };
  } finally {
    await db.close();
  }
}

const whole = (kind: Kind) => ({
  ...{ numbers: NUMBERS, labels: ['before'] },
  ...{ kind, isEncrypted: true },
});

/**
 * Takes the copy of the key record away, as if the tab that made the record had ended before it
 * copied it.
 */
async function forgetCopy(name: string): Promise<void> {
  const opening = indexedDB.open(`cairn:${name}`);
  await new Promise((resolve) => {
    opening.onsuccess = resolve;
  });
  const transaction = opening.result.transaction('recovery', 'readwrite');
  transaction.objectStore('recovery').delete(['encryption', 0]);
  await new Promise((resolve) => {
    transaction.oncomplete = resolve;
  });
  opening.result.close();
}

const digest = (password: string, salt: Uint8Array) =>
  crypto.subtle.digest('SHA-256', new Uint8Array([...new TextEncoder().encode(password), ...salt]));

test.each<Kind>(files ? ['indexeddb', 'opfs'] : ['indexeddb'])(
  'a database in %s opens after a tab ended between its key record and the copy of it',
  async (kind) => {
    const name = newName();
    const own = { password: 'one', deriveKey: digest };
    await fill(name, kind, own);
    await forgetCopy(name);
    expect(await read(name, kind, own)).toEqual(whole(kind));
    await forgetCopy(name);
    await expect(read(name, kind, { ...own, password: 'two' })).rejects.toEqual(code('key_wrong'));
  },
);

test('beside an open client of the page another key is key_wrong, and no key is key_missing', async () => {
  const name = newName();
  const { db, people } = open(name, 'indexeddb');
  await people.insert({ n: 0 });
  const [wrong, right] = [
    open(name, 'indexeddb', new Uint8Array(32).fill(2)),
    open(name, 'indexeddb'),
  ];
  const plain = connect({ name });
  await expect(wrong.people.insert({ n: 1 })).rejects.toEqual(code('key_wrong'));
  await expect(plain.ready).rejects.toEqual(code('key_missing'));
  expect(await right.people.count()).toBe(1);
  await changePassword({
    ...{ name, storage: 'indexeddb', key },
    new_key: { password: 'new' },
  });
  await expect(open(name, 'indexeddb').db.ready).rejects.toEqual(code('key_wrong'));
  const changed = open(name, 'indexeddb', { password: 'new' });
  expect(await changed.people.count()).toBe(1);
  await Promise.all([right.db.close(), changed.db.close()]);
  await db.destroy();
});

test.each<Kind>(files ? ['indexeddb', 'opfs'] : ['indexeddb'])(
  'of two changes of a password at once one is made, in %s, and the other rejects',
  async (storage) => {
    const name = newName();
    const old = { password: 'old' };
    await fill(name, storage, old);
    const keys = [{ password: 'first' }, { password: 'second' }];
    const changes = keys.map((new_key) => changePassword({ name, storage, key: old, new_key }));
    const outcomes = await Promise.allSettled(changes);
    const isChanged = outcomes.map(({ status }) => status === 'fulfilled');
    expect(isChanged.filter(Boolean)).toHaveLength(1);
    const changed = keys[isChanged.indexOf(true)];
    const other = keys[isChanged.indexOf(false)];
    expect(await read(name, storage, changed)).toEqual(whole(storage));
    for (const wrong of [old, other])
      await expect(read(name, storage, wrong)).rejects.toEqual(code('key_wrong'));
  },
);

if (files) {
  test('an encrypted database moves to files and back, and its key with it', async () => {
    const name = newName();
    await fill(name, 'indexeddb');
    await migrateStorage({ name, to: 'opfs' });
    expect(await read(name, 'opfs')).toEqual(whole('opfs'));
    const { db: other_client } = open(name, 'opfs');
    await other_client.ready;
    const refused = migrateStorage({ name, to: 'indexeddb' });
    await expect(refused).rejects.toEqual(code('database_busy'));
    await other_client.close();
    const other = new Uint8Array(32).fill(2);
    await expect(read(name, 'opfs', other)).rejects.toEqual(code('key_wrong'));
    const plain = connect({ name, storage: 'opfs' });
    const people = new plain.Collection({ name: 'people', type: 'DOCUMENT_BASED' });
    await expect(people.count({})).rejects.toEqual(code('key_missing'));
    await plain.close();

    await migrateStorage({ name, to: 'indexeddb' });
    expect(await read(name, 'indexeddb')).toEqual(whole('indexeddb'));
  });

  test('the password of a database in files is changed while no client has it open', async () => {
    const name = newName();
    const [old, new_key] = [{ password: 'old' }, { password: 'new' }];
    const options = { name, storage: 'opfs', key: old, new_key } as const;
    await expect(changePassword(options)).rejects.toEqual(code('not_encrypted'));
    await fill(name, 'opfs', old);

    const { db, people } = open(name, 'opfs', old);
    expect(await people.count({})).toBe(900);
    await expect(changePassword(options)).rejects.toEqual(code('database_busy'));
    await db.close();

    const wrong = { ...options, key: { password: 'another' } };
    await expect(changePassword(wrong)).rejects.toEqual(code('key_wrong'));
    expect(await read(name, 'opfs', old)).toEqual(whole('opfs'));
    await changePassword(options);
    await expect(read(name, 'opfs', old)).rejects.toEqual(code('key_wrong'));
    expect(await read(name, 'opfs', new_key)).toEqual(whole('opfs'));
  });
} else {
  test('where there are no files an encrypted database is in IndexedDB, encrypted', async () => {
    const name = newName();
    await fill(name, 'opfs');
    expect(await read(name, 'opfs')).toEqual(whole('indexeddb'));
  });
}
