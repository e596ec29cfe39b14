import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { encrypted } from '../../src/encryption/encrypted.ts';
import { connect, Database } from '../../src/index.ts';
import { files } from '../../src/node/files.ts';
import { undo } from '../../src/undo/index.ts';
import { backUpIn, newEnvironment } from '../backup-targets/device.ts';
import { MemoryTarget } from '../backup-targets/memory-target.ts';
import { MessageWorker } from '../transport/message-worker.ts';

let names = 0;
const newName = () => `platform values ${++names} ${Math.random()}`;

const newKey = () =>
  crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt']);

interface Device {
  _id: string;
  key: CryptoKey;
  label?: string;
  at?: Date;
}

const SETTINGS = { name: 'devices', type: 'DOCUMENT_BASED' } as const;
const iv = new Uint8Array(12);

async function works(key: unknown, sealed: ArrayBuffer): Promise<boolean> {
  const opened = await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, key as CryptoKey, sealed);
  return new Uint8Array(opened)[0] === 7;
}

test.each(['Database', 'connect'])(
  'a key that cannot be exported is a value in IndexedDB: %s',
  async (client) => {
    const name = newName();
    const open = () =>
      client === 'connect'
        ? connect({ name, worker: new MessageWorker().asWorker })
        : new Database({ name });
    const key = await newKey();
    const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, new Uint8Array([7]));
    const db = open();
    const devices = new db.Collection<Device>({ ...SETTINGS, indexes: ['label'] });
    await devices.insert({ _id: 'a', key, label: 'phone', at: new Date(5) });
    await devices.insertMany([{ _id: 'b', key, label: 'pad' }]);
    await devices.patch('a', { label: 'telephone' });
    await devices.patchOne({ _id: 'b' }, { $set: { key: await newKey() } });
    await db.transaction(async (tx) => {
      await tx(devices).patch('a', { at: new Date(6) });
    });
    expect((await devices.find('telephone'.length > 0 ? { label: 'telephone' } : {}))?._id).toBe(
      'a',
    );
    expect(await works((await devices.get('a'))?.key, sealed)).toBe(true);
    await expect(works((await devices.get('b'))?.key, sealed)).rejects.toThrow();
    // Keys cannot be compared, and no two are one.
    expect(await devices.count({ key: await newKey() })).toBe(0);
    expect((await devices.aggregate([{ $group: { _id: '$key' } }])).length).toBe(2);
    expect((await devices.filter({}, { sort: { key: 1 } as never })).length).toBe(2);
    const backup = await devices.createBackup();
    await devices.deleteMany({});
    await devices.loadBackup(backup);
    await db.close();

    const again = open();
    const stored = new again.Collection<Device>({ ...SETTINGS, indexes: ['label'] });
    expect(await works((await stored.get('a'))?.key, sealed)).toBe(true);
    expect((await stored.get('a'))?.at).toEqual(new Date(6));
    expect(await stored.verify()).toMatchObject({ whole: true, problems: [] });
    await again.destroy();
  },
);

test.each(['files', 'encrypted'])(
  'storage that writes bytes refuses it at once, and keeps the rest: %s',
  async (kind) => {
    const directory = mkdtempSync(join(tmpdir(), 'cairn-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const db = new Database(
      kind === 'files'
        ? { name: newName(), storage: files(directory) }
        : { name: newName(), storage: encrypted('indexeddb', { key: new Uint8Array(32) }) },
    );
    const devices = new db.Collection<Record<string, unknown>>({ ...SETTINGS, caching: true });
    const key = await newKey();
    await devices.ready;
    const refused = { name: 'ValueError', code: 'value_unsupported' };
    await expect(devices.insert({ key })).rejects.toMatchObject(refused);
    const many = Array.from({ length: 5000 }, (_, number) => ({ number, text: 'x'.repeat(200) }));
    await expect(
      devices.insertMany([...many, { deep: [new Map([['k', key]])] }]),
    ).rejects.toMatchObject(refused);
    const { _id } = await devices.insert({ label: 'phone' });
    await expect(devices.patch(_id, { key })).rejects.toMatchObject(refused);
    await expect(devices.patchOne({}, { $set: { key } })).rejects.toMatchObject(refused);
    await expect(db.transaction((tx) => tx(devices).insert({ key }))).rejects.toMatchObject(
      refused,
    );
    expect(() => devices.sync.insert({ key })).toThrow('CryptoKey');
    await db.save();
    expect(await devices.filter({})).toMatchObject([{ _id, label: 'phone' }]);
    await db.close();
  },
);

test('exports and backups elsewhere say that no file can hold it', async () => {
  const db = new Database({ name: newName() });
  onTestFinished(() => db.destroy());
  const devices = new db.Collection<Device>({ ...SETTINGS });
  await devices.insert({ _id: 'a', key: await newKey() });
  const read = async () => {
    const stream = await devices.exportBackup(await devices.createBackup());
    return new Response(stream).arrayBuffer();
  };
  const refused = { code: 'value_unsupported' };
  await expect(read()).rejects.toMatchObject(refused);
  const elsewhere = backUpIn(newEnvironment(), db, new MemoryTarget(), { device: 'laptop' });
  await expect(elsewhere.run()).rejects.toMatchObject(refused);
  await elsewhere.stop();
  await devices.delete('a');
  expect((await read()).byteLength).toBeGreaterThan(0);
});

test('an imitation of a key is refused', async () => {
  const db = new Database({ name: newName(), storage: 'memory' });
  onTestFinished(() => db.close());
  const devices = new db.Collection<Record<string, unknown>>({ ...SETTINGS });
  const imitation = Object.create({ [Symbol.toStringTag]: 'CryptoKey' }) as object;
  await expect(devices.insert({ imitation })).rejects.toMatchObject({ code: 'value_unsupported' });
});

describe('undo', () => {
  const kinds: [string, () => Promise<CryptoKey>][] = [
    ['AES-GCM', newKey],
    [
      'AES-GCM that may leave the browser',
      () => crypto.subtle.generateKey({ name: 'AES-GCM', length: 128 }, true, ['decrypt']),
    ],
    [
      'HMAC',
      () => crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']),
    ],
    [
      'Ed25519',
      async () => {
        const pair = await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']);
        return (pair as CryptoKeyPair).privateKey;
      },
    ],
  ];

  async function recorded() {
    const db = connect({ name: newName(), worker: new MessageWorker().asWorker });
    onTestFinished(() => db.close());
    const devices = new db.Collection<Device>({ ...SETTINGS });
    const theirs = new db.Collection<Device>({ ...SETTINGS });
    return { devices, theirs, history: undo(db, { collections: [devices] }) };
  }

  test.each(kinds)('tells keys of %s apart', async (_, create) => {
    const { devices, theirs, history } = await recorded();
    await devices.insert({ _id: 'a', key: await create(), label: 'phone' });
    await devices.patch('a', { label: 'pad' });
    await devices.patch('a', { key: await create() });
    const inserted = { label: undefined, changed: 1, skipped: [] };
    expect(await history.undo()).toEqual(inserted);
    expect(await history.undo()).toEqual(inserted);
    expect((await devices.get('a'))?.label).toBe('phone');
    expect(await history.undo()).toEqual(inserted);
    expect(await devices.count()).toBe(0);

    await devices.insert({ _id: 'b', key: await create() });
    await theirs.patch('b', { key: await create() });
    const skipped = [{ collection: 'devices', id: 'b', reason: 'changed' }];
    expect(await history.undo()).toMatchObject({ changed: 0, skipped });
    expect(await devices.count()).toBe(1);
  });

  test('leaves a key that makes nothing twice, and gives back the fields beside it', async () => {
    const { devices, history } = await recorded();
    const curve = { name: 'ECDSA', namedCurve: 'P-256' };
    const { privateKey: key } = await crypto.subtle.generateKey(curve, false, ['sign', 'verify']);
    await devices.insert({ _id: 'a', key, label: 'phone' });
    await devices.patch('a', { label: 'pad' });
    expect(await history.undo()).toMatchObject({ changed: 1, skipped: [{ path: 'key' }] });
    expect((await devices.get('a'))?.label).toBe('phone');
  });
});
