import { randomBytes } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { mergeFields } from '../../src/replication/index.ts';
import { memoryFiles } from '../../src/server/files/index.ts';
import { Random } from '../setup/random.ts';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { closeDevices, Device } from './device.ts';
import { MemoryRemote } from './memory-remote.ts';
import { bytesOf, hashOf, MEGABYTE, Office, placeholder } from './office.ts';

afterEach(async () => {
  await closeDevices();
  vi.restoreAllMocks();
});

test('Blobs and bytes travel apart from their document', async () => {
  const office = new Office();
  const [a, b] = [office.device(), office.device()];
  const [photo, sound, small] = [randomBytes(2.5 * MEGABYTE), randomBytes(5000), randomBytes(4096)];
  await a.orders.insert({
    _id: 'o',
    note: 'x'.repeat(10_000),
    photos: [new Blob([photo], { type: 'image/png' })],
    deep: { sound: new Uint8Array(sound), small: new Uint8Array(small) },
  });
  await a.settled();
  const document = {
    _id: 'o',
    note: 'x'.repeat(10_000),
    photos: [placeholder(photo, 'image/png')],
    deep: { sound: placeholder(sound), small: new Uint8Array(small) },
  };
  expect(await a.orders.get('o')).toMatchObject(document);
  await b.settled();
  expect(await b.orders.get('o')).toMatchObject(document);
  expect([office.count('PUT'), office.count('GET')]).toEqual([4, 2]);
  const progress: unknown[] = [];
  b.sync.on('file_progress', (one) => progress.push([one.direction, one.bytes]));
  const loaded = await b.sync.file('o', 'photos.0');
  expect([loaded?.type, hashOf((await bytesOf(loaded)) as Uint8Array)]).toEqual([
    'image/png',
    hashOf(photo),
  ]);
  expect(progress).toEqual([
    ['down', MEGABYTE],
    ['down', 2 * MEGABYTE],
    ['down', photo.length],
  ]);
  // Once; those that it has made need none.
  await b.sync.file('o', 'photos.0');
  expect(await bytesOf(await a.sync.file('o', 'deep.sound'))).toEqual(new Uint8Array(sound));
  expect(await bytesOf(await a.sync.file('o', 'deep.small'))).toEqual(new Uint8Array(small));
  expect(office.count('GET')).toBe(5);
  expect(await a.sync.file('o', 'note')).toBeUndefined();
  expect(await a.sync.file('none', 'photos.0')).toBeUndefined();
  expect(a.sync.status.files).toEqual({ uploads: 0, downloads: 0 });
  expect(a.sync.conflicts()).toEqual([]);
});

test('parts are Blobs, which the browser keeps; bytes of an older version are read as well', async () => {
  const device = new Office().device();
  const content = randomBytes(1000);
  await device.orders.insert({ _id: 'o', photo: new Blob([content]) });
  await device.settled();
  const parts = new device.db.Collection<{ _id: string; bytes: Blob | Uint8Array }>({
    ...{ name: 'orders file parts', type: 'DOCUMENT_BASED' },
  });
  const [part] = await parts.filter({});
  expect(part?.bytes).toBeInstanceOf(Blob);
  await parts.patch(part?._id as string, { bytes: new Uint8Array(content) });
  expect(await bytesOf(await device.sync.file('o', 'photo'))).toEqual(new Uint8Array(content));
});

test('the same file is sent once, by each device that has it', async () => {
  const office = new Office();
  const [a, b] = [office.device(), office.device()];
  const photo = randomBytes(100_000);
  for (const _id of ['1', '2']) await a.orders.insert({ _id, photo: new Blob([photo]) });
  await a.settled();
  await a.orders.insert({ _id: '3', photo: new Blob([photo]) });
  await a.settled();
  expect(office.count('PUT')).toBe(1);
  // All may read it: nobody has to send it again.
  await b.orders.insert({ _id: '4', photo: new Blob([photo]) });
  await b.settled();
  expect(office.count('PUT')).toBe(1);
  await b.orders.delete('4');
  // A copied placeholder is a document that names it.
  await b.orders.insert({ _id: '5', photo: ((await b.orders.get('1')) as any).photo });
  await b.settled();
  expect(await b.sync.rejected()).toEqual([]);
});

test('a torn upload goes on where it was, after a reload as well', async () => {
  const office = new Office();
  const database = { name: crypto.randomUUID(), storage: faultyDriver() } as never;
  let device = office.device('lazy', database);
  await device.settled();
  const photo = randomBytes(3.5 * MEGABYTE);
  office.tear('size=', 2);
  await device.orders.insert({ _id: 'o', photo: new Blob([photo]) });
  await expect.poll(() => device.sync.status.state).toBe('offline');
  expect(device.sync.status.files).toEqual({ uploads: 1, downloads: 0 });
  expect(await office.documents.read('orders', ['o'])).toEqual([]);
  await device.close();
  office.before = () => undefined;
  device = office.device('lazy', database);
  await device.settled();
  expect(office.count('PUT')).toBe(4);
  const other = office.device();
  await other.settled();
  // A torn download goes on, too.
  office.tear('/files/', 2);
  await expect(other.sync.file('o', 'photo')).rejects.toMatchObject({ code: 'remote_offline' });
  office.before = () => undefined;
  office.requests.length = 0;
  const loaded = await bytesOf(await other.sync.file('o', 'photo'));
  expect(hashOf(loaded as Uint8Array)).toBe(hashOf(photo));
  expect(office.count('GET')).toBe(2);
});

test("'eager' brings files by itself, and those that were missed", async () => {
  const office = new Office();
  const a = office.device();
  const photos = [randomBytes(10_000), randomBytes(20_000)];
  for (const [at, photo] of photos.entries())
    await a.orders.insert({ _id: `${at}`, photo: new Blob([photo as never]) });
  await a.settled();
  const database = { name: crypto.randomUUID(), storage: faultyDriver() } as never;
  let b = office.device('lazy', database);
  await b.settled();
  expect(office.count('GET')).toBe(2); // of the sender
  await b.close();
  b = office.device('eager', database);
  await expect.poll(() => office.count('GET')).toBe(4);
  await expect.poll(() => b.sync.status.files).toEqual({ uploads: 0, downloads: 0 });
  await a.orders.insert({ _id: '2', photo: new Blob([randomBytes(9000)]) });
  await a.settled();
  await expect.poll(() => office.count('GET')).toBe(6);
  await expect.poll(() => b.sync.status.files?.downloads).toBe(0);
  office.before = () => {
    throw new TypeError('offline');
  };
  for (const [at, photo] of photos.entries())
    expect(await bytesOf(await b.sync.file(`${at}`, 'photo'))).toEqual(new Uint8Array(photo));
});

test('a server that lies about a file is found out, and the next one is asked anew', async () => {
  const office = new Office();
  const [a, b] = [office.device(), office.device()];
  const photo = randomBytes(10_000);
  await a.orders.insert({ _id: 'o', photo: new Blob([photo]) });
  await a.settled();
  await b.settled();
  const lies = [
    randomBytes(10_000),
    photo.subarray(1),
    new Uint8Array(),
    new Uint8Array(MEGABYTE),
    new Uint8Array(MEGABYTE + 1),
  ];
  for (const lie of lies) {
    office.answered = (url, response) =>
      url.includes('/files/') ? new Response(lie as never) : response;
    const code = lie.length > MEGABYTE ? 'answer_invalid' : 'file_damaged';
    await expect(b.sync.file('o', 'photo')).rejects.toMatchObject({ code });
  }
  office.answered = (_, response) => response;
  expect(await bytesOf(await b.sync.file('o', 'photo'))).toEqual(new Uint8Array(photo));
});

test('placeholders that anybody has made up name no file, and stop nobody', async () => {
  const office = new Office();
  const a = office.device();
  const sha256 = hashOf(randomBytes(1));
  const odd = [
    { $file: { sha256, size: -1, type: '' } },
    { $file: { sha256: 'x', size: 1 } },
    { $file: { sha256, size: 1 }, more: 1 },
    { $file: 5 },
  ];
  await a.orders.insert({ _id: 'odd', odd });
  await a.orders.insert({ _id: 'foreign', photo: { $file: { sha256, size: 1, type: '' } } });
  await a.orders.insert({ _id: 'good', photo: new Blob([randomBytes(10)]) });
  await a.settled();
  expect(await office.documents.read('orders', ['good'])).toHaveLength(1);
  for (const at of [0, 1, 2, 3]) expect(await a.sync.file('odd', `odd.${at}`)).toBeUndefined();
  const refused = (await a.sync.rejected()).map(({ id, reason }) => [id, reason]);
  expect(refused).toContainEqual(['foreign', expect.stringContaining('no file')]);
  await expect(a.sync.file('foreign', 'photo')).rejects.toMatchObject({ code: 'remote_refused' });
});

test('a file that is too large is refused with its document; others go on', async () => {
  const office = new Office(memoryFiles(), { limit: 1000 });
  const a = office.device();
  await a.orders.insert({ _id: 'large', photo: new Blob([randomBytes(1001)]) });
  await a.orders.insert({ _id: 'small', photo: new Blob([randomBytes(1000)]) });
  await a.settled();
  expect((await a.sync.rejected()).map(({ id }) => id)).toEqual(['large']);
  expect(await office.documents.read('orders', ['small'])).toHaveLength(1);
  // Its content is still here.
  expect((await a.sync.file('large', 'photo'))?.size).toBe(1001);
});

test('a server may refuse the uploads of a user, with their documents alone', async () => {
  const office = new Office();
  const a = office.device();
  office.mayAsk = ({ method, url }) =>
    method !== 'PUT' || Number(new URL(url).searchParams.get('size')) < 1000;
  await a.orders.insert({ _id: 'large', photo: new Blob([randomBytes(1000)]) });
  await a.orders.insert({ _id: 'small', photo: new Blob([randomBytes(999)]) });
  await a.settled();
  expect((await a.sync.rejected()).map(({ id }) => id)).toEqual(['large']);
  expect(await office.documents.read('orders', ['small', 'large'])).toHaveLength(1);
});

test('a server that has lost a file gets it again', async () => {
  const store = memoryFiles();
  const office = new Office(store);
  const a = office.device();
  const photo = randomBytes(10_000);
  await a.orders.insert({ _id: '1', photo: new Blob([photo]) });
  await a.settled();
  const file = { collection: 'orders', sha256: hashOf(photo) };
  const since = new Date(Date.now() + 1000);
  await store.unname(file, ['1'], since);
  expect(await store.remove(file, since)).toBe(true);
  await a.orders.insert({ _id: '2', photo: new Blob([photo]) });
  await a.settled();
  expect(await office.documents.read('orders', ['2'])).toHaveLength(1);
  const b = office.device();
  await b.settled();
  expect(await bytesOf(await b.sync.file('2', 'photo'))).toEqual(new Uint8Array(photo));
});

test('no more than the limit is kept here, of what the server has', async () => {
  const office = new Office();
  const [a, b] = [office.device(), office.device({ limit: 25_000 })];
  for (const _id of ['1', '2', '3'])
    await a.orders.insert({ _id, photo: new Blob([randomBytes(10_000)]) });
  await a.settled();
  await b.settled();
  office.requests.length = 0;
  for (const id of ['1', '2', '3', '3', '2']) await b.sync.file(id, 'photo');
  expect(office.count('GET')).toBe(3);
  await b.sync.file('1', 'photo');
  expect(office.count('GET')).toBe(4);
});

test('a file stays here until a document of the server names it', async () => {
  const office = new Office();
  const [a, b] = [office.device(), office.device({ limit: 15_000 })];
  await a.orders.insert({ _id: 'other', photo: new Blob([randomBytes(10_000)]) });
  await a.settled();
  await b.settled();
  office.answered = (url, response) =>
    url.endsWith('/push')
      ? Response.json({ results: [{ rejected: { reason: 'not today' } }] })
      : response;
  const photo = randomBytes(10_000);
  await b.orders.insert({ _id: 'own', photo: new Blob([photo]) });
  await b.settled();
  expect(office.count('PUT')).toBe(2);
  // The server has it for a day, and gives it to nobody.
  await b.sync.file('other', 'photo');
  expect(await bytesOf(await b.sync.file('own', 'photo'))).toEqual(new Uint8Array(photo));
});

/** Requests for files wait from now on. @returns a function that lets them go on. */
function holdFiles(office: Office): () => void {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  office.before = (url) => (url.includes('/files/') ? released : undefined);
  return release;
}

test('other changes do not wait for files, in either direction', async () => {
  const office = new Office();
  const [a, b] = [office.device(), office.device()];
  await Promise.all([a.settled(), b.settled()]);
  const release = holdFiles(office);
  for (const _id of ['1', '2'])
    await a.orders.insert({ _id, photo: new Blob([randomBytes(5000)]) });
  await a.orders.insert({ _id: 'before' });
  const onServer = async () =>
    (await office.documents.read('orders', ['1', '2', 'before', 'after'])).map(({ id }) => id);
  await expect.poll(onServer).toEqual(['before']);
  await expect.poll(() => a.sync.status.files?.uploads).toBe(2);
  await a.orders.insert({ _id: 'after' });
  await expect.poll(onServer).toEqual(['before', 'after']);
  await b.orders.insert({ _id: 'theirs' });
  await expect.poll(() => a.orders.get('theirs'), { timeout: 20_000 }).toBeTruthy();
  expect(a.sync.status).toMatchObject({ state: 'pushing', pending: 2, files: { uploads: 2 } });
  release();
  await a.settled();
  expect((await onServer()).sort()).toEqual(['1', '2', 'after', 'before']);
  expect([office.count('PUT'), a.sync.status.files?.uploads]).toEqual([2, 0]);
});

test('pause() ends what is being sent', async () => {
  const office = new Office();
  const a = office.device();
  await a.settled();
  const release = holdFiles(office);
  for (const _id of ['1', '2'])
    await a.orders.insert({ _id, photo: new Blob([randomBytes(5000)]) });
  await expect.poll(() => a.sync.status.files?.uploads).toBe(2);
  a.sync.pause();
  release();
  await a.orders.insert({ _id: '3', photo: new Blob([randomBytes(5000)]) });
  await a.db.save();
  expect(office.count('PUT')).toBe(0);
  expect(a.sync.status.pending).toBe(3);
  a.sync.resume();
  await a.settled();
  expect(office.count('PUT')).toBe(3);
});

test('documents without files are pushed many at a time', async () => {
  const office = new Office();
  const a = office.device();
  await a.settled();
  a.sync.pause();
  office.requests.length = 0;
  await a.orders.insertMany(Array.from({ length: 2000 }, (_, n) => ({ _id: `${n}` })));
  a.sync.resume();
  await a.settled();
  expect(office.requests.filter((one) => one.endsWith('/push')).length).toBeLessThan(9);
});

test('a file waits no more once its document is deleted, and goes after a day', async () => {
  const office = new Office();
  const database = { name: crypto.randomUUID(), storage: faultyDriver() } as never;
  let a = office.device('lazy', database);
  await a.settled();
  const release = holdFiles(office);
  const photo = randomBytes(5000);
  await a.orders.insert({ _id: '1', photo: new Blob([photo]) });
  await expect.poll(async () => (await a.orders.get('1'))?.photo).toEqual(placeholder(photo));
  a.sync.pause();
  release();
  const { photo: named } = await a.orders.get('1');
  await a.orders.delete('1');
  a.sync.resume();
  await a.settled();
  expect([a.sync.status.files?.uploads, office.count('PUT')]).toEqual([0, 0]);
  // Put back, as undo does.
  await a.orders.insert({ _id: '1', photo: named });
  await a.settled();
  expect(office.count('PUT')).toBe(1);
  await a.close();
  a = office.device('lazy', database);
  await a.settled();
  expect(await bytesOf(await a.sync.file('1', 'photo'))).toEqual(new Uint8Array(photo));
  await a.close();
  // One that nobody puts back.
  a = office.device('lazy', database);
  office.before = (url) =>
    url.includes('/files/') ? Promise.reject(new TypeError('lost')) : undefined;
  const other = randomBytes(5000);
  await a.orders.insert({ _id: '2', photo: new Blob([other]) });
  await expect.poll(async () => (await a.orders.get('2'))?.photo).toEqual(placeholder(other));
  await a.orders.delete('2');
  await a.close();
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 2 * 86_400_000);
  a = office.device('lazy', database);
  const files = new a.db.Collection({ name: 'orders files', type: 'DOCUMENT_BASED' });
  expect(await files.get(hashOf(other))).toBeTruthy();
  await a.settled();
  await expect.poll(() => files.get(hashOf(other))).toBeFalsy();
  expect(await bytesOf(await a.sync.file('1', 'photo'))).toEqual(new Uint8Array(photo));
});

test('what stands for a file is merged as a whole', () => {
  const [old, mine, theirs] = [10, 10, 20].map((size) => placeholder(randomBytes(size)));
  const states = [{ photo: old }, { photo: mine }, { photo: theirs }] as const;
  const [base, local, remote] = states.map((one) => ({ _id: 'o', ...one }));
  expect(mergeFields({ base, local, remote } as never)).toEqual(remote);
});

test.each([
  [{ files: 'all' }, 'option_invalid'],
  [{ files: { above: -1 } }, 'option_invalid'],
  [{ files: { load: 'later' } }, 'option_invalid'],
  [{ files: { more: 1 } }, 'option_invalid'],
])('replicate() refuses %j', (options, code) => {
  expect(() => new Device(new Office().remote, options as never)).toThrow(
    expect.objectContaining({ code, place: 'files' }),
  );
});

test('without files of the remote, or the option, there are none', async () => {
  expect(() => new Device(new MemoryRemote(), { files: 'lazy' })).toThrow(
    expect.objectContaining({ code: 'option_conflict', place: 'files' }),
  );
  const without = new Device(new MemoryRemote());
  await expect(without.sync.file('o', 'photo')).rejects.toMatchObject({ code: 'option_conflict' });
  expect(without.sync.status.files).toBeUndefined();
});

test('devices and a server end equal on a network that tears, doubles and loses', async () => {
  for (let seed = 1; seed <= 6; seed++) {
    const random = new Random(seed);
    const office = new Office();
    const devices = [office.device('eager'), office.device(), office.device()];
    const pool = Array.from({ length: 4 }, () =>
      randomBytes(random.below(2) ? random.below(20_000) : MEGABYTE + random.below(100_000)),
    );
    for (const device of devices) await device.settled();
    office.before = () => {
      if (random.chance(0.15)) throw new TypeError('lost');
    };
    office.answered = (_, response) => {
      if (random.chance(0.15)) throw new TypeError('unanswered');
      return response;
    };
    for (let step = 0; step < 12; step++) {
      const device = random.pick(devices);
      const id = `${random.below(4)}`;
      const photo = new Blob([random.pick(pool) as never]);
      if (random.chance(0.2)) await device.orders.delete(id);
      else await device.orders.upsert({ _id: id, photo, more: [photo, { step }] });
      if (random.chance(0.4)) device.sync.resume();
      await new Promise((resolve) => setTimeout(resolve, random.below(10)));
    }
    office.before = () => undefined;
    office.answered = (_, response) => response;
    for (const device of [...devices, ...devices]) {
      device.sync.resume();
      await device.settled();
    }
    const [first, ...others] = await Promise.all(devices.map((one) => one.all()));
    for (const other of others) expect(other, `seed ${seed}`).toEqual(first);
    const hashes = new Set(pool.map(hashOf));
    for (const device of devices) {
      expect(await device.sync.rejected(), `seed ${seed}`).toEqual([]);
      for (const id of Object.keys(first as object)) {
        const bytes = await bytesOf(await device.sync.file(id, 'photo'));
        expect(hashes.has(hashOf(bytes as Uint8Array)), `seed ${seed}`).toBe(true);
      }
      await device.close();
    }
  }
}, 120_000);
