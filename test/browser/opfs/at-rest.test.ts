import { afterEach, expect, test, vi } from 'vitest';
import { type BackupTarget, backupTo } from '../../../src/backup-targets/index.ts';
import {
  changePassword,
  type EncryptedDriver,
  encrypted,
  encryptedTarget,
} from '../../../src/encryption/index.ts';
import { connect, Database, type DatabaseClient } from '../../../src/index.ts';
import { outbox } from '../../../src/outbox/index.ts';
import { BaseClient } from '../../../src/page/client/base-client.ts';
import { pagePlatform } from '../../../src/page/connection/page-platform.ts';
import { SharedLeaderships } from '../../../src/page/connection/shared-leaderships.ts';
import { http, replicate } from '../../../src/replication/index.ts';
import { documentFiles, memoryFiles } from '../../../src/server/files/index.ts';
import { createHandler, memory } from '../../../src/server/index.ts';
import { hasFiles } from './has-files.ts';

type Kind = 'indexeddb' | 'opfs';

const files = await hasFiles();
const key = new Uint8Array(32).fill(6);
/** In every id, field, value, name and label. No other test has it. */
const WORD = 'Qomolangma';
const PHOTO = new Uint8Array(9000).map((_, at) => (at * 7) % 251);
const BINARY = binary(PHOTO.subarray(100, 140));

let names = 0;

afterEach(() => vi.restoreAllMocks());

function binary(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

const utf16 = (text: string) =>
  binary(new Uint8Array(Uint16Array.from(text, (c) => c.charCodeAt(0)).buffer));

/** What base64 makes of a text inside of another one, whatever is before and behind it. */
const inBase64 = (text: string) =>
  ['', 'x', 'xx'].map((before) =>
    btoa(before + text)
      .slice(Math.ceil((before.length * 8) / 6))
      .replace(/..=*$/, ''),
  );

/** Whether a text of bytes has a secret, in any case, also behind base64. */
function foundIn(text: string, secrets: readonly string[] = [WORD, WORD.slice(2), BINARY]) {
  const lower = text.toLowerCase();
  return secrets.some(
    (secret) =>
      [secret, utf16(secret)].some((one) => lower.includes(one.toLowerCase())) ||
      inBase64(secret).some((one) => text.includes(one)),
  );
}

/** All bytes and texts of a value of IndexedDB. */
async function textOf(value: unknown): Promise<string> {
  if (typeof value === 'string') return `${value}\n${utf16(value)}`;
  if (value instanceof Blob) return binary(new Uint8Array(await value.arrayBuffer()));
  if (value instanceof ArrayBuffer) return binary(new Uint8Array(value));
  if (ArrayBuffer.isView(value))
    return binary(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  if (typeof value !== 'object' || value === null) return String(value);
  const parts =
    value instanceof Map
      ? [...value].flat()
      : value instanceof Set
        ? [...value]
        : Object.entries(value).flat();
  return (await Promise.all(parts.map(textOf))).join('\n');
}

const asked = <T>(request: IDBRequest<T>) =>
  new Promise<T>((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/** Where on this device a secret stands, in what the browser keeps for this origin. */
async function leaks(name: string): Promise<string[]> {
  const found = new Set<string>();
  const look = async (place: string, value: unknown) => {
    if (foundIn(await textOf(value))) found.add(place);
  };
  // At once: a journal goes with the next save.
  const texts = Object.entries({ localStorage, sessionStorage }).flatMap(([place, kept]) =>
    Object.keys(kept).map((one) => [place, one, kept.getItem(one)] as const),
  );
  for (const [place, one, text] of texts) if (one.includes(name)) await look(place, [one, text]);
  // Found by its name alone: not every browser lists databases.
  const database = await asked(indexedDB.open(`cairn:${name}`));
  try {
    for (const store of database.objectStoreNames) {
      const rows = database.transaction(store).objectStore(store);
      const [keys, values] = await Promise.all([asked(rows.getAllKeys()), asked(rows.getAll())]);
      for (const one of keys) await look(`key in ${store}`, one);
      for (const one of values) await look(store, one);
    }
  } finally {
    database.close();
  }
  if (files) await lookInto(await navigator.storage.getDirectory(), look);
  return [...found].sort();
}

async function lookInto(
  folder: FileSystemDirectoryHandle,
  look: (place: string, value: unknown) => Promise<void>,
) {
  for await (const entry of folder.values()) {
    await look('file name', entry.name);
    if (entry instanceof FileSystemDirectoryHandle) await lookInto(entry, look);
    else if (entry instanceof FileSystemFileHandle)
      await look('files', await entry.getFile().catch(() => undefined));
  }
}

const open = (name: string, kind: Kind, isSealed: boolean, Door: 'connect' | 'Database') => {
  const storage = isSealed ? encrypted(kind, { key }) : kind;
  return (
    Door === 'connect' ? connect({ name, storage }) : new Database({ name, storage } as never)
  ) as DatabaseClient;
};

/** The page is hidden, and later it ends, as far as its scripts hear of it. */
function hide(): void {
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
  document.dispatchEvent(new Event('visibilitychange'));
}

function show(): void {
  vi.restoreAllMocks();
  document.dispatchEvent(new Event('visibilitychange'));
}

/** Does what the interface can do, with a secret in everything. @returns all leaks meanwhile. */
async function useAll(name: string, kind: Kind, isSealed: boolean, door: 'connect' | 'Database') {
  const found = new Set<string>();
  const look = async () => {
    for (const place of await leaks(name)) found.add(place);
  };
  const db = open(name, kind, isSealed, door);
  const late = { save_timeout: 3600, save_directly_after: 1_000_000 };
  const things = new db.Collection<any>({
    ...{ name: WORD, type: 'DOCUMENT_BASED', activate_drop_method: true, ...late },
    indexes: [WORD, { fields: [`${WORD}2`, 'n'], unique: true }, { text: WORD }],
  });
  await things.insertMany(
    Array.from({ length: 1500 }, (_, n) => ({
      ...{
        _id: `${WORD} ${n}`,
        n,
        [WORD]: `${WORD} ${n}`,
        [`${WORD}2`]: n,
        bytes: n < 60 ? PHOTO : n,
      },
      map: new Map([[WORD, new Set([WORD])]]),
    })),
  );
  await db.save();
  // Unsaved, in journals and recovery records.
  await things.upsert({ _id: WORD, [WORD]: WORD });
  await things.patch(`${WORD} 1`, { $set: { [`${WORD}3`]: WORD } });
  const values = new db.Collection<any>({
    name: `${WORD} values`,
    type: 'KEY_VALUE_BASED',
    ...late,
  });
  await values.set(WORD, { [WORD]: WORD });
  await db.transaction(async (tx) => {
    await tx(things).upsert({ _id: `${WORD} tx`, [WORD]: WORD, photo: PHOTO });
    await tx(values).set(`${WORD} tx`, WORD);
  });
  hide();
  await look();
  show();
  await things.insert({ _id: `${WORD} blob`, blob: new Blob([PHOTO], { type: `text/${WORD}` }) });
  await db.save();
  await look();
  const backup = await things.createBackup({ label: WORD });
  await things.deleteMany({ n: { $lt: 700 } });
  await db.save();
  await things.loadBackup(backup);
  await things.importBackup(await new Response(await things.exportBackup(backup)).blob());
  expect((await things.search(WORD, { limit: 3 })).length).toBe(3);
  const live = things.live({ [WORD]: WORD });
  await live.ready;
  await db.renameCollection(`${WORD} gone`, `${WORD} elsewhere`).catch(() => undefined);
  const store = memory();
  const handler = createHandler({
    ...{ store, authorize: () => true, hold: 5 },
    files: documentFiles({ store: memoryFiles() }),
  });
  const synced = new db.Collection<any>({ name: `${WORD} synced`, type: 'DOCUMENT_BASED' });
  const remote = http({
    url: `https://example.com/${WORD}`,
    fetch: ((url: string, init: RequestInit) => handler(new Request(url, init))) as never,
  });
  const sync = replicate(synced, { remote, files: 'eager' });
  await synced.insert({ _id: WORD, [WORD]: WORD, photo: new Blob([PHOTO]) });
  await sync.settled({ timeout: 60_000 });
  await sync.file(WORD, 'photo');
  await look();
  await sync.stop();
  const box = outbox(db, {
    [WORD]: {
      local: (tx: any, input: any) => tx(things).upsert({ _id: `${WORD} out`, [WORD]: input }),
      send: () => Promise.reject(new Error(WORD)),
      lane: WORD,
    },
  } as never);
  await (box.actions as any)[WORD](WORD);
  await db.save();
  await look();
  box.stop();
  const objects = new Map<string, Uint8Array>();
  const target: BackupTarget = {
    put: async (path, content) => void objects.set(path, content as Uint8Array),
    get: async (path) => objects.get(path) as never,
    list: async (prefix) => [...objects.keys()].filter((path) => path.startsWith(prefix)) as never,
    delete: async (path) => void objects.delete(path),
  };
  const elsewhere = backupTo(db, isSealed ? encryptedTarget(target, { key }) : target, {
    every: 'day',
  });
  await elsewhere.run();
  elsewhere.stop();
  if (foundIn(await textOf(objects))) found.add('target');
  await things.Drop({ backup: true });
  await db.close();
  await look();
  const again = open(name, kind, isSealed, door);
  const more = new again.Collection<any>({
    ...{ name: `${WORD} synced`, type: 'DOCUMENT_BASED', version: 2 },
    migrate: { 2: (one: any) => ({ ...one, [`${WORD}4`]: WORD }) },
  });
  await more.count();
  await again.save();
  await look();
  await again.destroy();
  return [...found].sort();
}

const cases = (files ? (['indexeddb', 'opfs'] as const) : (['indexeddb'] as const)).flatMap(
  (kind) =>
    (['connect', 'Database'] as const)
      .filter((door) => kind === 'indexeddb' || door === 'connect')
      .map((door) => [kind, door] as const),
);

test.each(cases)(
  'nothing of an encrypted database is readable on the device: %s, %s',
  async (kind, door) => {
    // The search finds what is there.
    const clear = await useAll(`clear ${++names} ${Math.random()}`, kind, false, door);
    expect(clear).toContain('localStorage');
    expect(clear).toContain('target');
    expect(clear).toContain(kind === 'opfs' ? 'files' : 'segments');
    expect(await useAll(`sealed ${++names} ${Math.random()}`, kind, true, door)).toEqual([]);
  },
);

const PASSWORD = 'Kangchenjunga 8586';

/** Opens a client as one of another tab does: it finds who leads by what tabs announce. */
function openElsewhere(name: string, storage: EncryptedDriver<'indexeddb'> | undefined) {
  const tab = new SharedLeaderships();
  const settings = { name, durability: 'relaxed', storage: undefined } as const;
  const refuse = () => Promise.reject(new Error('Another tab leads.'));
  return new BaseClient({ ...settings, encryption: storage?.encryption }, (given) =>
    tab.access(given, pagePlatform, refuse, false),
  );
}

/** What a script of this origin hears that has no key, and what errors and events say. */
async function overhear(name: string, isSealed: boolean) {
  const heard = {
    ...{ announced: [] as unknown[], between: [] as unknown[] },
    ...{ intruding: [] as unknown[], said: [] as unknown[] },
  };
  const channels: BroadcastChannel[] = [];
  const listen = (channel: string, hear: (data: any) => void) => {
    const opened = new BroadcastChannel(channel);
    opened.onmessage = ({ data }) => hear(data);
    channels.push(opened);
    return opened;
  };
  const announcements = listen(`cairn:${name}`, (data) => {
    heard.announced.push(data);
    if (data.type === 'join') listen(data.channel, (one) => heard.between.push(one));
    if (data.type === 'lead') listen('mine', (one) => heard.intruding.push(one));
    if (data.type === 'lead')
      announcements.postMessage({
        ...{ type: 'join', leader: data.leader, client: 'intruder', channel: 'mine' },
      });
  });
  const say = (...said: unknown[]) => {
    // An error is no object of texts.
    for (const one of said)
      heard.said.push(one instanceof Error ? [String(one), { ...one }, String(one.cause)] : one);
  };
  for (const method of ['warn', 'error', 'log', 'info'] as const)
    vi.spyOn(console, method).mockImplementation(say);
  const with_password = (password: string) =>
    isSealed ? encrypted('indexeddb', { key: { password } }) : undefined;
  const db = connect({ name, storage: with_password(PASSWORD) });
  const events = ['status', 'save', 'index', 'restore', 'migration', 'quota', 'error'] as const;
  for (const event of events) db.on(event, (detail) => say(event, { ...detail }));
  const made = { name: 'things', type: 'DOCUMENT_BASED' } as const;
  const things = new db.Collection<any>({
    ...{ ...made, indexes: [{ fields: ['mail'], unique: true }] },
    expire_after: { field: 'at', seconds: 3600 },
  });
  await things.insert({ _id: 'a', mail: WORD, text: WORD });
  const elsewhere = openElsewhere(name, with_password(PASSWORD));
  const others = new elsewhere.Collection<any>(made);
  await others.upsert({ _id: 'b', mail: `${WORD} 2`, text: WORD });
  expect(await others.get('a')).toMatchObject({ text: WORD });
  await elsewhere.close();
  announcements.postMessage({ type: 'who' });
  await expect.poll(() => heard.intruding.length).toBeGreaterThan(0);

  const refuse = (call: Promise<unknown>) =>
    call.then(() => expect.unreachable('It is refused.'), say);
  await refuse(things.insert({ _id: 'a', text: WORD }));
  // A caller whose value is taken is told which.
  await expect(things.insert({ _id: 'c', mail: WORD })).rejects.toThrow(WORD);
  await refuse(things.insert({ _id: 'c', mail: 1, at: WORD }));
  await refuse(things.insert({ _id: 'c', text: () => WORD }));
  await refuse(things.patch('a', { $inc: { text: 1 } } as never));
  await refuse(things.patch('a', { $push: { text: WORD } } as never));
  const file = await new Response(await db.exportAll()).blob();
  await refuse(db.importAll(file.slice(0, file.size - 20)));
  await refuse(db.importAll(new Blob([WORD])));
  if (isSealed) {
    const wrong = connect({ name, storage: with_password(`${PASSWORD}!`) });
    await refuse(wrong.ready);
    await refuse(openElsewhere(name, with_password(`${PASSWORD}!`)).ready);
    const change = { name, storage: 'indexeddb', key: { password: `${PASSWORD}!` } } as const;
    await refuse(changePassword({ ...change, new_key: { password: PASSWORD } }));
  }
  await things.createBackup();
  await db.save();
  await db.destroy();
  for (const channel of channels) channel.close();
  vi.restoreAllMocks();
  const texts: Record<string, string> = {};
  for (const [place, all] of Object.entries(heard)) texts[place] = await textOf(all);
  const placesOf = (secret: string) =>
    Object.keys(texts).filter((place) => foundIn(texts[place] as string, [secret]));
  expect(heard.announced.length).toBeGreaterThan(2);
  expect(heard.said.length).toBeGreaterThan(10);
  return { words: placesOf(WORD), passwords: placesOf(PASSWORD.slice(0, 9)) };
}

test.each([false, true])(
  'tabs announce nothing that is stored, errors and events say nothing of it: encrypted %s',
  async (isSealed) => {
    const found = await overhear(`heard ${++names} ${Math.random()}`, isSealed);
    // docs/guides/security.md: who listens to a channel between two tabs reads what passes.
    expect(found).toEqual({ words: ['between'], passwords: [] });
  },
);
