import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  changePassword,
  type EncryptionKey,
  encrypted,
  encryptedTarget,
} from '../../src/encryption/index.ts';
import { Database, memoryDriver, type StorageDriver } from '../../src/index.ts';

afterEach(() => vi.restoreAllMocks());

const bytes = (fill: number) => new Uint8Array(32).fill(fill);
const code = (value: string) => expect.objectContaining({ code: value });

/** A key, and what a careful caller does to it as soon as it was handed over. */
interface Given {
  readonly key: EncryptionKey;
  readonly overwrite: () => void;
}

const withBytes = (fill: number, keyOf: (own: Uint8Array<ArrayBuffer>) => EncryptionKey): Given => {
  const own = bytes(fill);
  return { key: keyOf(own), overwrite: () => own.fill(0) };
};

const withObject = (key: Record<string, unknown>, other: Record<string, unknown>): Given => ({
  key: key as unknown as EncryptionKey,
  overwrite: () => Object.assign(key, other),
});

const digest = async (password: string, salt: Uint8Array) =>
  crypto.subtle.digest('SHA-256', new Uint8Array([...new TextEncoder().encode(password), ...salt]));

const KINDS: [string, (fill: number) => Given][] = [
  ['bytes', (fill) => withBytes(fill, (own) => own)],
  ['a Buffer', (fill) => withBytes(fill, (own) => Buffer.from(own.buffer))],
  ['a passkey', (fill) => withBytes(fill, (own) => ({ passkey: own }))],
  [
    "a passkey's buffer",
    (fill) => withBytes(fill, (own) => ({ passkey: own.buffer as ArrayBuffer })),
  ],
  ['another passkey', (fill) => withObject({ passkey: bytes(fill) }, { passkey: bytes(0) })],
  ['a password', (fill) => withObject({ password: `p${fill}` }, { password: 'another' })],
  [
    'a password with deriveKey',
    (fill) =>
      withObject(
        { password: `p${fill}`, deriveKey: digest },
        { password: 'another', deriveKey: async () => bytes(0) },
      ),
  ],
];

async function write(driver: StorageDriver, key: EncryptionKey, after = () => {}) {
  const db = new Database({ name: 'notes', storage: encrypted(driver, { key }) });
  after();
  await new db.Collection({ name: 'a', type: 'DOCUMENT_BASED' }).insert({ _id: 'one' });
  await db.close();
}

async function count(driver: StorageDriver, key: EncryptionKey) {
  const db = new Database({ name: 'notes', storage: encrypted(driver, { key }) });
  const counted = new db.Collection({ name: 'a', type: 'DOCUMENT_BASED' }).count();
  return counted.finally(() => db.close().catch(() => undefined));
}

describe.each(KINDS)('%s may be overwritten once it is handed over', (_, give) => {
  test('to encrypted()', async () => {
    const driver = memoryDriver();
    const { key, overwrite } = give(1);
    await write(driver, key, overwrite);
    expect(await count(driver, give(1).key)).toBe(1);
    await expect(count(driver, key)).rejects.toEqual(code('key_wrong'));
  });

  test('to changePassword()', async () => {
    const driver = memoryDriver();
    await write(driver, give(1).key);
    const [before, after] = [give(1), give(2)];
    const options = { name: 'notes', storage: driver, key: before.key, new_key: after.key };
    const changed = changePassword(options);
    before.overwrite();
    after.overwrite();
    Object.assign(options, { key: bytes(8), new_key: bytes(9), name: 'other' });
    await changed;
    expect(await count(driver, give(2).key)).toBe(1);
  });

  test('to encryptedTarget()', async () => {
    const files = new Map<string, Uint8Array>();
    const target = {
      put: async (path: string, content: Uint8Array) => void files.set(path, content),
      get: async (path: string) => files.get(path),
      list: async (prefix: string) => [...files.keys()].filter((path) => path.startsWith(prefix)),
      delete: async (path: string) => void files.delete(path),
    };
    const { key, overwrite } = give(1);
    const options = { key };
    const first = encryptedTarget(target, options);
    overwrite();
    options.key = bytes(9);
    await first.put('a', new Uint8Array([7]));
    const second = encryptedTarget(target, { key: give(1).key });
    expect(await second.get('a')).toEqual(new Uint8Array([7]));
  });
});

test('copies of key material are overwritten', async () => {
  const importKey = vi.spyOn(crypto.subtle, 'importKey');
  const returned = bytes(3);
  const keys: EncryptionKey[] = [
    bytes(1),
    { passkey: bytes(2) },
    { password: 'secret' },
    { password: 'secret', deriveKey: () => returned },
  ];
  for (const key of keys) await write(memoryDriver(), key);
  const used = importKey.mock.calls.filter(([format]) => (format as string) === 'raw');
  expect(used.length).toBeGreaterThanOrEqual(keys.length);
  for (const [, content] of used)
    expect(new Uint8Array(content as unknown as ArrayBuffer).every((byte) => byte === 0)).toBe(
      true,
    );
  // These are the caller's.
  expect([keys[0], returned]).toEqual([bytes(1), bytes(3)]);
});

describe('a deriveKey that makes no key', () => {
  const BAD: [string, () => unknown][] = [
    [
      'throws',
      () => {
        throw new Error('no memory');
      },
    ],
    ['rejects', async () => Promise.reject(new TypeError('no memory'))],
    ['returns too few bytes', () => new Uint8Array(31)],
    ['returns text', () => 'a'.repeat(64)],
    ['returns nothing', () => undefined],
  ];
  test.each(BAD)('%s: a typed error, and the next opening asks again', async (_, deriveKey) => {
    const driver = memoryDriver();
    const bad = { password: 'one', deriveKey } as EncryptionKey;
    const good = { password: 'one', deriveKey: digest };
    const failed = expect.objectContaining({
      ...{ name: 'StorageError', code: 'key_not_derived', place: 'deriveKey' },
      message: expect.stringMatching(/at least 32 bytes/),
    });
    await expect(write(driver, bad)).rejects.toEqual(failed);
    await write(driver, good);
    await expect(count(driver, bad)).rejects.toEqual(failed);
    const change = { name: 'notes', storage: driver };
    await expect(changePassword({ ...change, key: bad, new_key: bytes(1) })).rejects.toEqual(
      failed,
    );
    await expect(changePassword({ ...change, key: good, new_key: bad })).rejects.toEqual(failed);
    expect(await count(driver, good)).toBe(1);
  });

  test('of a shared view is copied', async () => {
    const shared = new Uint8Array(new SharedArrayBuffer(32)).fill(4);
    const key = { password: 'one', deriveKey: () => shared } as unknown as EncryptionKey;
    const driver = memoryDriver();
    await write(driver, key);
    expect(await count(driver, key)).toBe(1);
  });
});
