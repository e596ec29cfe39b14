import { randomBytes } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { LocalFiles } from '../../src/replication/files/local-files.ts';
import { memoryFiles } from '../../src/server/files/index.ts';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { closeDevices, Device } from './device.ts';
import { bytesOf, hashOf, Office } from './office.ts';

afterEach(async () => {
  await closeDevices();
  vi.restoreAllMocks();
});

const KEY = new Uint8Array(32).fill(7);
const DAY_MS = 86_400_000;

/** A promise, and what resolves it. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** A server, and what devices reach it by. */
function officeOf(isSealed: boolean) {
  const store = memoryFiles();
  const office = new Office(store);
  const remote = () => (isSealed ? office.remoteWith({ key: KEY }) : office.remote);
  const device = (files?: never, database?: never) => office.device(files, database, remote());
  const isFile = (url: string) => url.includes('/files/');
  /** Devices reach documents alone. */
  const holdFiles = () => {
    office.before = (url) => {
      if (isFile(url)) throw new TypeError('offline');
    };
  };
  /** No file is on the server any more. */
  const loseFiles = async () => {
    const since = new Date(Date.now() + 1000);
    for (const file of await store.unused(since)) {
      await store.unname(file, await store.names(file, 100), since);
      await store.remove(file, since);
    }
  };
  /** Another device has the photo of a document, and none was refused here. */
  const expectSent = async (
    { sync }: ReturnType<typeof device>,
    id: string,
    photo: Uint8Array,
  ): Promise<void> => {
    expect(await sync.rejected()).toEqual([]);
    const other = device();
    await other.settled();
    const found = await bytesOf(await other.sync.file(id, 'photo'));
    expect(hashOf(found as Uint8Array)).toBe(hashOf(photo));
  };
  return { office, device, isFile, holdFiles, loseFiles, expectSent };
}

const isKept = async ({ orders }: { orders: any }, id: string) =>
  (await orders.get(id))?.photo.$file !== undefined;

test.each([
  ['a file', false],
  ['an encrypted file', true],
])('%s that is given again stays, while an old copy of it is looked for', async (_, isSealed) => {
  const { office, device, holdFiles, expectSent } = officeOf(isSealed);
  const database = { name: crypto.randomUUID(), storage: faultyDriver() } as never;
  let a = device(undefined, database);
  await a.settled();
  holdFiles();
  const photo = randomBytes(5000);
  await a.orders.insert({ _id: 'old', photo: new Blob([photo]) });
  await expect.poll(() => isKept(a, 'old')).toBe(true);
  await a.orders.delete('old');
  await a.close();
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 2 * DAY_MS);
  const { removeUnnamed } = LocalFiles.prototype;
  const [looking, removed] = [gate(), gate()];
  vi.spyOn(LocalFiles.prototype, 'removeUnnamed').mockImplementation(async function (
    this: LocalFiles,
    naming,
  ) {
    await removeUnnamed.call(this, async function* () {
      yield* naming();
      await looking.opened;
    });
    removed.open();
  });
  a = device(undefined, database);
  await a.settled();
  await a.orders.insert({ _id: 'new', photo: new Blob([photo]) });
  await expect.poll(() => isKept(a, 'new')).toBe(true);
  looking.open();
  await removed.opened;
  office.before = () => undefined;
  a.sync.resume();
  await a.settled();
  await expectSent(a, 'new', photo);
});

test.each([
  ['a file', false],
  ['an encrypted file', true],
])('%s that is given again makes room when the server has it anew', async (_, isSealed) => {
  const { office, device, loseFiles, isFile, expectSent } = officeOf(isSealed);
  const a = device();
  const [photo, other] = [randomBytes(5000), randomBytes(5000)];
  await a.orders.insert({ _id: 'old', photo: new Blob([photo]) });
  await a.settled();
  const b = device({ limit: 1 } as never);
  await b.settled();
  await b.sync.file('old', 'photo');
  await a.orders.delete('old');
  await a.settled();
  await b.settled();
  await loseFiles();
  await a.orders.insert({ _id: 'other', photo: new Blob([other]) });
  await a.settled();
  await b.settled();
  // Another file takes its room before a document names it on the server.
  office.before = async (url) => {
    if (isFile(url) || !url.endsWith('/push')) return;
    office.before = () => undefined;
    await b.sync.file('other', 'photo');
  };
  await b.orders.insert({ _id: 'new', photo: new Blob([photo]) });
  await b.settled();
  await expectSent(b, 'new', photo);
});

test.each([
  ['a file', false],
  ['an encrypted file', true],
])('%s that is given while it comes damaged from the server is kept', async (_, isSealed) => {
  const { office, device, isFile, loseFiles, expectSent } = officeOf(isSealed);
  const [a, b] = [device(), device()];
  const photo = randomBytes(5000);
  await a.orders.insert({ _id: 'old', photo: new Blob([photo]) });
  await a.settled();
  await b.settled();
  const [asked, answering] = [gate(), gate()];
  office.before = async (url) => {
    if (!isFile(url)) return;
    if (url.includes('device=')) throw new TypeError('offline');
    asked.open();
    await answering.opened;
  };
  office.answered = (url, response) =>
    isFile(url) && !url.includes('device=') ? new Response(new Uint8Array(5000)) : response;
  const loading = b.sync.file('old', 'photo').catch((error: unknown) => error);
  await asked.opened;
  await loseFiles();
  await b.orders.insert({ _id: 'new', photo: new Blob([photo]) });
  await expect.poll(() => isKept(b, 'new')).toBe(true);
  answering.open();
  await loading;
  office.before = () => undefined;
  office.answered = (_url, response) => response;
  expect(await bytesOf(await b.sync.file('new', 'photo'))).toEqual(new Uint8Array(photo));
  b.sync.resume();
  await b.settled();
  await expectSent(b, 'new', photo);
});

test('files of documents that have left their scopes go a day later', async () => {
  const office = new Office(memoryFiles());
  const writer = office.device() as any;
  const photos = [randomBytes(5000), randomBytes(5000)];
  for (const [at, photo] of photos.entries())
    await writer.orders.insert({ _id: `o${at}`, owner: 'ada', photo: new Blob([photo]) });
  await writer.settled();
  const database = { name: crypto.randomUUID(), storage: faultyDriver() } as never;
  const open = () =>
    new Device(office.remote, { files: 'lazy', scopes: [{ owner: 'ada' }] } as never, database);
  const kept = async ({ db }: Device) => {
    const files = new db.Collection({ name: 'orders files', type: 'DOCUMENT_BASED' });
    return (await files.filter({ isWhole: true } as never)).map(({ _id }) => _id);
  };
  const { removeUnnamed } = LocalFiles.prototype;
  let looked: Promise<void> | undefined;
  vi.spyOn(LocalFiles.prototype, 'removeUnnamed').mockImplementation(function (
    this: LocalFiles,
    ...given
  ) {
    looked = removeUnnamed.apply(this, given);
    return looked;
  });
  let ada = open();
  await ada.settled();
  for (const at of photos.keys()) await ada.sync.file(`o${at}`, 'photo');
  await writer.orders.patch('o0', { owner: 'ben' });
  await writer.settled();
  await ada.settled();
  await looked;
  expect(Object.keys(await ada.all())).toEqual(['o1']);
  expect(await kept(ada)).toHaveLength(2);
  await ada.close();
  vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 2 * DAY_MS);
  ada = open();
  await ada.settled();
  await looked;
  expect(await kept(ada)).toEqual([hashOf(photos[1] as Uint8Array)]);
});

test('a file that is imported takes no photo of this device away, and its backup has it', async () => {
  const { office, device, holdFiles, expectSent } = officeOf(false);
  const one = device();
  const [sent, unsent] = [randomBytes(5000), randomBytes(6000)];
  await one.orders.insert({ _id: 'sent', photo: new Blob([sent]) });
  await one.settled();
  const file = await new Response(await one.db.exportAll()).blob();
  holdFiles();
  await one.orders.insert({ _id: 'unsent', photo: new Blob([unsent]) });
  await expect.poll(async () => (await one.orders.get('unsent'))?.photo).not.toBeInstanceOf(Blob);
  await one.db.importAll(file);
  expect(await one.orders.get('unsent')).toBeUndefined();
  const [before] = await one.orders.listBackups();
  await one.orders.loadBackup(before.name);
  expect(await bytesOf(await one.sync.file('unsent', 'photo'))).toEqual(new Uint8Array(unsent));
  office.before = () => undefined;
  await one.settled();
  await expectSent(one, 'unsent', unsent);
});
