import { describe, expect, test, vi } from 'vitest';
import { AppKey } from '../../src/encryption/app-key.ts';
import { clientEncryption } from '../../src/encryption/encrypted.ts';
import { changePassword, type EncryptionKey, encrypted } from '../../src/encryption/index.ts';
import { PageKeys } from '../../src/encryption/page-keys.ts';
import {
  Database,
  memoryDriver,
  OptionError,
  type StorageDriver,
  StorageError,
} from '../../src/index.ts';
import { ENCRYPTION_KEY } from '../../src/storage/drivers/encryption-key.ts';
import { indexedDbDriver } from '../../src/storage/drivers/indexeddb-driver.ts';
import type { DerivedKey } from '../../src/storage/encryption/encryption-module.ts';
import {
  newKeyRecord,
  putKeyRecord,
  readKeyRecord,
} from '../../src/storage/encryption/key-record.ts';
import { COPY_KEY, changeKey, openEncrypted } from '../../src/storage/encryption/open-encrypted.ts';
import { type RawValue, readRaw, writeRaw } from './raw-values.ts';

const bytes = (fill: number) => new Uint8Array(32).fill(fill);
const code = (value: string) => expect.objectContaining({ code: value });
const aes = (name: 'AES-GCM' | 'AES-KW', fill: number, ...usages: KeyUsage[]) =>
  crypto.subtle.importKey('raw', bytes(fill), name, false, usages);

async function insertInto(driver: StorageDriver, key?: EncryptionKey): Promise<void> {
  const db = new Database({ name: 'notes', storage: key ? encrypted(driver, { key }) : driver });
  const documents = new db.Collection({ name: 'a', type: 'DOCUMENT_BASED' });
  const inserted = documents.insert({ _id: 'one', n: 1 });
  await inserted.finally(() => db.close().catch(() => undefined));
}

async function countIn(driver: StorageDriver, key?: EncryptionKey): Promise<number> {
  const db = new Database({ name: 'notes', storage: key ? encrypted(driver, { key }) : driver });
  try {
    return await new db.Collection({ name: 'a', type: 'DOCUMENT_BASED' }).count();
  } finally {
    await db.close().catch(() => undefined);
  }
}

describe('every kind of key opens what it has sealed, and nothing else does', async () => {
  const kinds: [string, EncryptionKey, EncryptionKey][] = [
    ['a password', { password: 'one' }, { password: 'two' }],
    [
      'a password with deriveKey',
      { password: 'one', deriveKey: (password, salt) => derive(password, salt) },
      { password: 'two', deriveKey: (password, salt) => derive(password, salt) },
    ],
    ['a passkey', { passkey: bytes(1) }, { passkey: bytes(2).buffer }],
    ['bytes', bytes(1), bytes(2)],
    ['AES-GCM to encrypt', await aes('AES-GCM', 1, 'encrypt', 'decrypt'), bytes(1)],
    [
      'AES-GCM to wrap',
      await aes('AES-GCM', 1, 'wrapKey', 'unwrapKey'),
      await aes('AES-GCM', 2, 'wrapKey', 'unwrapKey'),
    ],
    [
      'AES-KW',
      await aes('AES-KW', 1, 'wrapKey', 'unwrapKey'),
      await aes('AES-KW', 2, 'wrapKey', 'unwrapKey'),
    ],
  ];
  test.each(kinds)('%s', async (_, key, other) => {
    const driver = memoryDriver();
    await insertInto(driver, key);
    const before = await readRaw(driver, 'notes');
    for (const wrong of [other, bytes(3), { passkey: bytes(3) }])
      await expect(countIn(driver, wrong)).rejects.toEqual(code('key_wrong'));
    expect(await readRaw(driver, 'notes')).toEqual(before);
    expect(await countIn(driver, key)).toBe(1);
  });
});

async function derive(password: string, salt: Uint8Array): Promise<ArrayBuffer> {
  const content = new Uint8Array([...new TextEncoder().encode(password), ...salt]);
  return crypto.subtle.digest('SHA-256', content);
}

test('a page whose copy of the key record is older or missing gets the newer one', async () => {
  const storage = await memoryDriver().open('notes', { damaged: () => undefined });
  const keys = new PageKeys(AppKey.of({ password: 'one', deriveKey: derive }, 'key'));
  const open = async (derived: DerivedKey) => {
    const options = { name: 'notes', key: await keys.material(), derived, hasPages: true };
    await openEncrypted(storage, {
      ...options,
      events: { damaged: () => undefined },
      StorageError,
    });
  };
  /** The key that a page derives. */
  const derived = async () => {
    const [copy] = await storage.getMany('recovery', [COPY_KEY]);
    const record = readKeyRecord(copy);
    return record ? keys.derive(record.origin) : keys.deriveNew();
  };
  await open(await derived());
  await open(await derived());
  // A tab ended between both writes.
  await storage.write([{ type: 'delete', store: 'recovery', key: COPY_KEY }], 'relaxed');
  await expect(open(await derived())).rejects.toEqual(code('key_wrong'));
  await open(await derived());
});

test('a password may be typed with other code points', async () => {
  const driver = memoryDriver();
  await insertInto(driver, { password: 'caf\u00e9' });
  expect(await countIn(driver, { password: 'cafe\u0301' })).toBe(1);
});

test('a database of another name does not open with the key record of this one', async () => {
  const driver = memoryDriver();
  await insertInto(driver, bytes(1));
  await writeRaw(driver, 'moved', await readRaw(driver, 'notes'));
  const db = new Database({ name: 'moved', storage: encrypted(driver, { key: bytes(1) }) });
  await expect(db.ready).rejects.toEqual(code('key_wrong'));
});

test('an encrypted database does not open without a key, and stays as it is', async () => {
  const driver = memoryDriver();
  await insertInto(driver, bytes(1));
  const before = await readRaw(driver, 'notes');
  await expect(countIn(driver)).rejects.toEqual(code('key_missing'));
  await expect(insertInto(driver)).rejects.toEqual(code('key_missing'));
  expect(await readRaw(driver, 'notes')).toEqual(before);
  expect(await countIn(driver, bytes(1))).toBe(1);
});

test('a database that is not encrypted does not open with a key, and stays as it is', async () => {
  const driver = memoryDriver();
  await insertInto(driver);
  const before = await readRaw(driver, 'notes');
  await expect(countIn(driver, bytes(1))).rejects.toEqual(code('not_encrypted'));
  expect(await readRaw(driver, 'notes')).toEqual(before);
  expect(await countIn(driver)).toBe(1);
});

test('a damaged key record is damage, not a wrong key', async () => {
  const driver = memoryDriver();
  await insertInto(driver, bytes(1));
  const all = await readRaw(driver, 'notes');
  const record = all.find(({ key }) => key[0] === 'encryption') as RawValue;
  const { epoch, claim } = record.value as { epoch: number; claim: string };
  for (const changed of ['', claim.slice(0, -9), claim.replace('bytes', 'crypto'), undefined]) {
    const value = { epoch, claim: changed };
    await writeRaw(driver, 'notes', [{ store: 'leadership', key: ['encryption'], value }]);
    await expect(countIn(driver, bytes(1))).rejects.toEqual(code('data_damaged'));
  }
});

test('without its key record a database does not pass for an empty one', async () => {
  const driver = memoryDriver();
  await insertInto(driver, bytes(1));
  const gone = { store: 'leadership', key: ['encryption'], value: undefined } as const;
  await writeRaw(driver, 'notes', [gone]);
  await expect(countIn(driver, bytes(1))).rejects.toEqual(code('not_encrypted'));
});

test('two openings at the same time agree on one key', async () => {
  const storage = memoryDriver();
  const driver = encrypted(storage, { key: bytes(1) });
  const events = { damaged: () => undefined };
  const [one, other] = await Promise.all([driver.open('n', events), driver.open('n', events)]);
  await one.write([{ type: 'put', store: 'segments', key: ['a', 1], value: { n: 1 } }], 'strict');
  expect(await other.getMany('segments', [['a', 1]])).toEqual([{ n: 1 }]);
});

test('after destroy() a database begins with another key', async () => {
  const driver = memoryDriver();
  await insertInto(driver, bytes(1));
  const db = new Database({ name: 'notes', storage: encrypted(driver, { key: bytes(2) }) });
  await db.destroy();
  await insertInto(driver, bytes(2));
  expect(await countIn(driver, bytes(2))).toBe(1);
});

test('another password opens the same values', async () => {
  const driver = memoryDriver();
  const [key, new_key] = [{ password: 'old' }, { password: 'new' }];
  await insertInto(driver, key);
  const before = await readRaw(driver, 'notes');
  const db = new Database({ name: 'notes', storage: encrypted(driver, { key }) });
  const open = new db.Collection({ name: 'a', type: 'DOCUMENT_BASED' });
  expect(await open.count()).toBe(1);
  await changePassword({ name: 'notes', storage: driver, key, new_key });
  // Who has it open goes on.
  await open.insert({ _id: 'two' });
  await db.close();
  await expect(countIn(driver, key)).rejects.toEqual(code('key_wrong'));
  expect(await countIn(driver, new_key)).toBe(2);
  const after = await readRaw(driver, 'notes');
  for (const one of before.filter(({ store }) => store === 'segments'))
    expect(after).toContainEqual(one);
  const again = changePassword({ name: 'notes', storage: driver, key, new_key });
  await expect(again).rejects.toEqual(code('key_wrong'));
  expect(await countIn(driver, new_key)).toBe(2);
});

test('a password is changed in IndexedDB, and of no database that is not there', async () => {
  const name = `changed ${Math.random()}`;
  const options = { storage: 'indexeddb', key: bytes(1), new_key: bytes(2) } as const;
  await expect(changePassword({ name, ...options })).rejects.toEqual(code('not_encrypted'));
  const db = new Database({ name, storage: encrypted('indexeddb', { key: bytes(1) }) });
  await db.ready;
  expect(db.status).toMatchObject({ storage: 'indexeddb', encrypted: true });
  await db.close();
  await changePassword({ name, ...options });
  const changed = new Database({ name, storage: encrypted('indexeddb', { key: bytes(2) }) });
  await changed.ready;
  await changed.destroy();
});

test('in IndexedDB a key record and its copy for pages are stored together, or not at all', async () => {
  const name = `together ${Math.random()}`;
  const storage = await indexedDbDriver().open(name, { damaged: () => undefined });
  const read = () =>
    Promise.all([
      storage.getMany('leadership', [ENCRYPTION_KEY]),
      storage.getMany('recovery', [COPY_KEY]),
    ]);
  const keys = new PageKeys(AppKey.of(bytes(1), 'key'));
  const { origin, key } = await keys.deriveNew();
  const record = await newKeyRecord(name, key, origin);
  const changed = await changeKey(storage, name, record, key, { origin, key }, true).catch(
    (error) => error.code,
  );
  expect(changed).toBe('key_wrong');
  expect(await read()).toEqual([[undefined], [undefined]]);
  await storage.write([putKeyRecord(record)], 'strict');
  await changeKey(storage, name, record, key, { origin, key }, true);
  const [[stored], [copy]] = await read();
  expect(readKeyRecord(stored)?.version).toBe(2);
  expect(copy).toEqual(stored);
  await storage.close();
});

test('a client with another key gets key_wrong beside others of its page, and takes none along', async () => {
  for (const order of [
    [1, 2, 1],
    [2, 1, 1],
    [2, 2, 1],
  ]) {
    const driver = memoryDriver();
    await insertInto(driver, bytes(1));
    const outcome = (fill: number) =>
      countIn(driver, bytes(fill)).catch((error: { code: string }) => error.code);
    const outcomes = order.map(outcome);
    expect(await Promise.all(outcomes)).toEqual(
      order.map((fill) => (fill === 1 ? 1 : 'key_wrong')),
    );
  }
});

test('beside an open client the key counts that the database has now', async () => {
  const driver = memoryDriver();
  await insertInto(driver, bytes(1));
  const storage = encrypted(driver, { key: bytes(1) });
  const db = new Database({ name: 'notes', storage });
  await db.ready;
  await expect(countIn(driver, bytes(2))).rejects.toEqual(code('key_wrong'));
  expect(await countIn(driver, bytes(1))).toBe(1);
  await changePassword({ name: 'notes', storage: driver, key: bytes(1), new_key: bytes(2) });
  await expect(countIn(driver, bytes(1))).rejects.toEqual(code('key_wrong'));
  await expect(new Database({ name: 'notes', storage }).ready).rejects.toEqual(code('key_wrong'));
  await expect(countIn(driver, { password: 'one' })).rejects.toEqual(code('key_wrong'));
  await expect(countIn(driver)).rejects.toEqual(code('key_missing'));
  expect(await countIn(driver, bytes(2))).toBe(1);
  await db.close();
});

test('a key is proven though IndexedDB does not open at first', async () => {
  const name = `proven ${Math.random()}`;
  const db = new Database({ name, storage: encrypted('indexeddb', { key: bytes(1) }) });
  await db.ready;
  const proving = (fill: number) =>
    clientEncryption(new PageKeys(AppKey.of(bytes(fill), 'key'))).proving(name)([], bytes(0));
  const open = vi.spyOn(indexedDB, 'open');
  const fail = () => {
    throw new DOMException('Internal error.', 'UnknownError');
  };
  open.mockImplementationOnce(fail).mockImplementationOnce(fail);
  expect(await proving(1)).toHaveLength(32);
  open.mockImplementationOnce(fail);
  await expect(proving(2)).rejects.toEqual(code('key_wrong'));
  open.mockImplementation(fail);
  await expect(proving(1)).rejects.toEqual(code('storage_failed'));
  open.mockRestore();
  await db.destroy();
});

test('the status says what is encrypted', async () => {
  const plain = new Database({ name: 'plain', storage: 'memory' });
  await plain.ready;
  expect(plain.status).toMatchObject({ storage: 'memory', encrypted: false });
  const sealed = new Database({ name: 'x', storage: encrypted('memory', { key: bytes(1) }) });
  expect(sealed.status.encrypted).toBeUndefined();
  await sealed.ready;
  expect(sealed.status).toMatchObject({ storage: 'memory', encrypted: true });
  await Promise.all([plain.close(), sealed.close()]);
});

test('a bad option is refused at once, and no message has the key', () => {
  const bad = [undefined, null, 'secret', { password: '' }, { password: 7 }, new Uint8Array(16)];
  for (const key of [...bad, { passkey: bytes(1).slice(1) }, { password: 'secret', deriveKey: 7 }])
    expect(() => encrypted('memory', { key: key as EncryptionKey })).toThrow(OptionError);
  expect(() => encrypted('nowhere' as 'memory', { key: bytes(1) })).toThrow(/'opfs'/);
  expect(() => encrypted('memory', { key: 'secret' as never })).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('secret') }),
  );
});

test('a client without a key does not use the engine of one that has it, nor the other way round', async () => {
  const driver = memoryDriver();
  for (const isFirst of [true, false]) {
    const name = `shared ${isFirst}`;
    const sealed = { name, storage: encrypted(driver, { key: bytes(1) }) };
    const [one, two] = isFirst
      ? [sealed, { name, storage: driver }]
      : [{ name, storage: driver }, sealed];
    const open = new Database(one);
    await open.ready;
    const refused = new Database(two);
    const inserted = new refused.Collection({ name: 'a', type: 'DOCUMENT_BASED' }).insert({});
    await expect(inserted).rejects.toEqual(code(isFirst ? 'key_missing' : 'not_encrypted'));
    const kept = new open.Collection({ name: 'a', type: 'DOCUMENT_BASED' });
    await kept.insert({ _id: 'one' });
    await open.close();
  }
});

test('a client without the key that has just begun gives way to one of its page with the key', async () => {
  const driver = memoryDriver();
  const plain = { name: 'begun', storage: driver };
  const sealed = { name: 'begun', storage: encrypted(driver, { key: bytes(1) }) };
  const before = new Database(sealed);
  await new before.Collection({ name: 'a', type: 'DOCUMENT_BASED' }).insert({ _id: 'one' });
  await before.close();
  const clients = [plain, plain, sealed].map((options) => new Database(options));
  const counts = clients.map((db) =>
    new db.Collection({ name: 'a', type: 'DOCUMENT_BASED' }).count().catch(({ code }) => code),
  );
  expect(await Promise.all(counts)).toEqual(['key_missing', 'key_missing', 1]);
  await Promise.all(clients.map((db) => db.close()));
});
