import { randomBytes } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { OptionError } from '../../src/index.ts';
import { LocalFiles } from '../../src/replication/files/local-files.ts';
import type { EncryptOptions } from '../../src/replication/index.ts';
import { memoryFiles } from '../../src/server/files/index.ts';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { closeDevices, Device } from './device.ts';
import { bytesOf, hashOf, MEGABYTE, Office, placeholder } from './office.ts';

afterEach(async () => {
  await closeDevices();
  vi.restoreAllMocks();
});

const [KEY, OTHER_KEY] = [7, 8].map((byte) => new Uint8Array(32).fill(byte)) as [any, any];

/** A server that gets ciphertext only, and keeps what it was sent. */
class SealedOffice extends Office {
  open(encrypt: Partial<EncryptOptions> = {}, files: any = 'lazy', database?: never) {
    return this.device(files, database, this.remoteWith({ key: KEY, ...encrypt }));
  }

  async stored(): Promise<any[]> {
    const { changes } = await this.documents.pull('orders', undefined, 1000);
    return changes.map(({ document }) => document);
  }
}

const failureOf = (made: Promise<unknown>): Promise<any> =>
  made.then(
    () => ({}),
    (error) => error,
  );

/** Whether all of a file has come: counts of the status are 0 before documents were looked at. */
async function isHere(device: Device, content: Uint8Array): Promise<boolean> {
  const files = new device.db.Collection({ name: 'orders files', type: 'DOCUMENT_BASED' });
  return ((await files.get(hashOf(content))) as any)?.isWhole === true;
}

test('photos travel sealed, in parts, and each content once', async () => {
  const store = memoryFiles();
  const office = new SealedOffice(store);
  const [a, b] = [office.open(), office.open()];
  const photo = Buffer.from('a secret in a photo'.repeat(MEGABYTE / 8));
  const blob = new Blob([photo], { type: 'image/png' });
  for (const _id of ['1', '2']) await a.orders.insert({ _id, photos: [blob] });
  await a.settled();
  expect(office.count('PUT')).toBe(Math.ceil(photo.length / MEGABYTE));
  await b.settled();
  expect(await b.orders.get('1')).toMatchObject({ photos: [placeholder(photo, 'image/png')] });
  const loaded = await b.sync.file('1', 'photos.0');
  expect(loaded?.type).toBe('image/png');
  expect(Buffer.from((await bytesOf(loaded)) as Uint8Array).equals(photo)).toBe(true);
  // The server knows a file of another hash, and gives it with these documents.
  const [one, two] = await office.stored();
  expect(Object.keys(one).sort()).toEqual(['_files', '_id', '_sealed']);
  expect(one._files).toEqual(two._files);
  const { sha256, size } = one._files[0].$plain.$file;
  expect([sha256 === hashOf(photo), size]).toEqual([false, photo.length]);
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size; ) {
    const part = await store.read({ collection: 'orders', sha256 }, at);
    bytes.set(part?.bytes ?? [], at);
    at += part?.bytes.length ?? size;
  }
  expect(hashOf(bytes)).toBe(sha256);
  expect(bytes.includes('secret')).toBe(false);
  const seen = JSON.stringify([office.requests, await office.stored()]);
  expect(['png', hashOf(photo), 'photos'].filter((word) => seen.includes(word))).toEqual([]);
  // Another device has the same content: it may read the file, and need not send it.
  const requests = office.count('PUT');
  await b.orders.insert({ _id: '3', photos: [blob] });
  await b.settled();
  expect(office.count('PUT')).toBe(requests);
  expect([a.sync.conflicts(), await b.sync.rejected()]).toEqual([[], []]);
});

test('a copied placeholder, an empty file and one that was not sent are read', async () => {
  const office = new SealedOffice();
  const [a, b] = [office.open(), office.open()];
  office.before = (url) => {
    if (url.includes('/files/')) throw new TypeError('offline');
  };
  const photo = randomBytes(10_000);
  await a.orders.insert({ _id: '1', photo: new Blob([photo]), none: new Blob([]) });
  await expect.poll(() => a.sync.status.files?.uploads).toBe(2);
  expect(await bytesOf(await a.sync.file('1', 'photo'))).toEqual(new Uint8Array(photo));
  office.before = () => undefined;
  a.sync.resume();
  await a.settled();
  await b.settled();
  await b.orders.insert({ _id: '2', photo: (await b.orders.get('1')).photo });
  await b.settled();
  await a.settled();
  expect(await bytesOf(await a.sync.file('2', 'photo'))).toEqual(new Uint8Array(photo));
  expect((await b.sync.file('1', 'none'))?.size).toBe(0);
});

test('torn transfers go on where they were, after a reload as well', async () => {
  const office = new SealedOffice();
  const database = { name: crypto.randomUUID(), storage: faultyDriver() } as never;
  let device = office.open({}, 'lazy', database);
  await device.settled();
  const photo = randomBytes(3.5 * MEGABYTE);
  office.tear('size=', 2);
  await device.orders.insert({ _id: 'o', photo: new Blob([photo]) });
  await expect.poll(() => device.sync.status.state).toBe('offline');
  await device.close();
  office.before = () => undefined;
  device = office.open({}, 'lazy', database);
  await device.settled();
  expect(office.count('PUT')).toBe(4);
  const other = office.open();
  await other.settled();
  office.tear('/files/', 2);
  expect(await failureOf(other.sync.file('o', 'photo'))).toMatchObject({ code: 'remote_offline' });
  office.before = () => undefined;
  office.requests.length = 0;
  const loaded = await bytesOf(await other.sync.file('o', 'photo'));
  expect(hashOf(loaded as Uint8Array)).toBe(hashOf(photo));
  expect(office.count('GET')).toBe(2);
});

test('content that is lost as it is kept is an error of the round, and a later one has it', async () => {
  const office = new SealedOffice();
  const [a, b] = [office.open(), office.open()];
  const photo = randomBytes(10_000);
  vi.spyOn(LocalFiles.prototype, 'part').mockResolvedValueOnce(undefined);
  await a.orders.insert({ _id: 'o', photo: new Blob([photo]) });
  await expect.poll(() => a.sync.status.error?.code).toBe('file_damaged');
  a.sync.resume();
  await a.settled();
  await b.settled();
  const loaded = await bytesOf(await b.sync.file('o', 'photo'));
  expect(hashOf(loaded as Uint8Array)).toBe(hashOf(photo));
});

test('a device without the key of a file waits for it, and others come', async () => {
  const office = new SealedOffice();
  const a = office.open();
  const [old, fresh] = [randomBytes(10_000), randomBytes(10_000)];
  await a.orders.insert({ _id: 'old', photo: new Blob([old]) });
  await a.settled();
  const rotated = office.open({ key: [OTHER_KEY, KEY] });
  await rotated.settled();
  await rotated.orders.insert({ _id: 'fresh', photo: new Blob([fresh]) });
  // The document has the newest key, its file keeps that of its content.
  await rotated.orders.patch('old', { note: 'sealed again' });
  await rotated.settled();
  const database = { name: crypto.randomUUID(), storage: faultyDriver() } as never;
  let late = office.open({ key: OTHER_KEY }, 'eager', database);
  office.before = (url) => {
    if (url.includes('?from=')) throw new TypeError('torn');
  };
  await late.settled();
  await expect.poll(() => late.sync.status.files?.error?.code).toBe('remote_offline');
  office.before = () => undefined;
  await expect.poll(() => isHere(late, fresh)).toBe(true);
  await expect.poll(() => late.sync.status.files?.error?.code).toBe('key_unknown');
  expect(late.sync.status.files).toMatchObject({ downloads: 1 });
  expect(late.sync.status.state).toBe('idle');
  expect(await bytesOf(await late.sync.file('fresh', 'photo'))).toEqual(new Uint8Array(fresh));
  expect(await failureOf(late.sync.file('old', 'photo'))).toMatchObject({
    ...{ name: 'ReplicationError', code: 'key_unknown', place: hashOf(old) },
  });
  await late.close();
  late = office.open({ key: [OTHER_KEY, KEY] }, 'eager', database);
  await expect.poll(() => isHere(late, old)).toBe(true);
  office.before = () => {
    throw new TypeError('offline');
  };
  expect(await bytesOf(await late.sync.file('old', 'photo'))).toEqual(new Uint8Array(old));
});

test('content that is given again has the newest key, and so has what was not sent', async () => {
  const office = new SealedOffice();
  const a = office.open();
  const photo = randomBytes(10_000);
  await a.orders.insert({ _id: 'o', photo: new Blob([photo]) });
  await a.settled();
  const rotated = office.open({ key: [OTHER_KEY, KEY] });
  await rotated.settled();
  await rotated.orders.patch('o', { photo: await rotated.sync.file('o', 'photo') });
  await rotated.settled();
  const late = office.open({ key: OTHER_KEY });
  await late.settled();
  expect(await bytesOf(await late.sync.file('o', 'photo'))).toEqual(new Uint8Array(photo));
  // A device kept content under a key, and lost the key before it could send it.
  const database = { name: crypto.randomUUID(), storage: faultyDriver() } as never;
  let device = office.open({ key: [KEY, OTHER_KEY] }, 'lazy', database);
  await device.settled();
  office.before = (url) => {
    if (url.includes('/files/')) throw new TypeError('offline');
  };
  await device.orders.insert({ _id: 'mine', photo: new Blob([photo.subarray(1)]) });
  await expect.poll(async () => (await device.orders.get('mine')).photo.$file?.sealed).toBeTruthy();
  await device.close();
  office.before = () => undefined;
  device = office.open({ key: OTHER_KEY }, 'lazy', database);
  await device.settled();
  await late.settled();
  expect(await bytesOf(await late.sync.file('mine', 'photo'))).toEqual(
    new Uint8Array(photo.subarray(1)),
  );
});

test('content that was not sent has one name, whichever key its documents have had', async () => {
  const office = new SealedOffice();
  const database = { name: crypto.randomUUID(), storage: faultyDriver() } as never;
  let device = office.open({}, 'lazy', database);
  await device.settled();
  office.before = (url) => {
    if (url.includes('/files/')) throw new TypeError('offline');
  };
  const photo = new Blob([randomBytes(10_000)]);
  await device.orders.insert({ _id: 'before', photo });
  await expect
    .poll(async () => (await device.orders.get('before')).photo.$file?.sealed)
    .toBeTruthy();
  await device.close();
  device = office.open({ key: [OTHER_KEY, KEY] }, 'lazy', database);
  await device.orders.insert({ _id: 'behind', photo });
  office.before = () => undefined;
  device.sync.resume();
  await device.settled();
  const late = office.open({ key: OTHER_KEY });
  await late.settled();
  const [before, behind] = [await late.orders.get('before'), await late.orders.get('behind')];
  expect(before.photo).toEqual(behind.photo);
  expect((await late.sync.file('before', 'photo'))?.size).toBe(10_000);
  expect(await device.sync.rejected()).toEqual([]);
});

test('content under two keys comes by the one that is here', async () => {
  const office = new SealedOffice();
  const a = office.open();
  const photo = randomBytes(10_000);
  await a.orders.insert({ _id: 'old', photo: new Blob([photo]) });
  await a.settled();
  const rotated = office.open({ key: [OTHER_KEY, KEY] });
  await rotated.settled();
  await rotated.orders.insert({ _id: 'fresh', photo: new Blob([photo]) });
  await rotated.settled();
  // Comes last, under the earlier key.
  await rotated.orders.patch('old', { note: 'sealed again' });
  await rotated.settled();
  const late = office.open({ key: OTHER_KEY }, 'eager');
  await expect.poll(() => isHere(late, photo)).toBe(true);
  await late.settled();
  office.before = () => {
    throw new TypeError('offline');
  };
  for (const id of ['fresh', 'old'])
    expect(await bytesOf(await late.sync.file(id, 'photo'))).toEqual(new Uint8Array(photo));
});

test('a file in a field that the server reads is refused; others go on', async () => {
  const office = new SealedOffice();
  const a = office.open({ clear: ['photo'] });
  await a.orders.insert({ _id: 'clear', photo: [new Blob(['x'])] });
  await a.orders.insert({ _id: 'sealed', other: new Blob(['x']), photo: 1 });
  await a.settled();
  expect(await a.sync.rejected()).toMatchObject([
    { id: 'clear', reason: expect.stringContaining('encrypt.clear') },
  ]);
  expect((await office.stored()).map(({ _id }) => _id)).toEqual(['sealed']);
  expect(JSON.stringify(await office.stored())).not.toContain(hashOf(Buffer.from('x')));
});

test('files of a collection that was not encrypted are sealed, as far as they are here', async () => {
  const office = new SealedOffice();
  const database = { name: crypto.randomUUID(), storage: faultyDriver() } as never;
  const plain = new Office().device('lazy', database);
  const photo = randomBytes(10_000);
  await plain.orders.insert({ _id: 'here', photo: new Blob([photo]) });
  await plain.settled();
  const missing = placeholder(randomBytes(10));
  await plain.orders.insert({ _id: 'missing', photo: missing });
  await plain.settled();
  await plain.sync.stop({ forget: true });
  await plain.close();
  const device = office.open({}, 'lazy', database);
  await device.settled();
  expect(await device.sync.rejected()).toMatchObject([
    { id: 'missing', reason: expect.stringContaining('not on this device') },
  ]);
  const other = office.open();
  await other.settled();
  expect(await bytesOf(await other.sync.file('here', 'photo'))).toEqual(new Uint8Array(photo));
  expect((await office.stored()).map(({ _id }) => _id)).toEqual(['here']);
});

test('a server that lies about a file is found out, and the next one is asked anew', async () => {
  const office = new SealedOffice();
  const [a, b] = [office.open(), office.open()];
  const photo = randomBytes(10_000);
  await a.orders.insert({ _id: 'o', photo: new Blob([photo]) });
  await a.settled();
  await b.settled();
  for (const lie of [photo, photo.subarray(1), new Uint8Array(), new Uint8Array(MEGABYTE)]) {
    office.answered = (url, response) =>
      url.includes('/files/') ? new Response(lie as never) : response;
    expect(await failureOf(b.sync.file('o', 'photo'))).toMatchObject({ code: 'file_damaged' });
  }
  office.answered = (_, response) => response;
  expect(await bytesOf(await b.sync.file('o', 'photo'))).toEqual(new Uint8Array(photo));
});

test('a remote without files has none when it encrypts', () => {
  const { files: _, ...remote } = new Office().remoteWith({ key: KEY });
  expect(() => new Device(remote, { files: 'lazy' })).toThrow(OptionError);
});
