import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import { changePassword, encrypted } from '../../../src/encryption/index.ts';
import { Database, type DocumentCollection } from '../../../src/index.ts';
import type { Outbox } from '../../../src/outbox/outbox.ts';
import { http, type Replication, replicate } from '../../../src/replication/index.ts';
import { documentFiles, memoryFiles } from '../../../src/server/files/index.ts';
import { createHandler, memory } from '../../../src/server/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { openShop, Shop } from '../../outbox/shop.ts';
import { MemoryRemote } from '../../replication/memory-remote.ts';
import type { Disk } from './disks.ts';

type Things = DocumentCollection<any>;

/** What the database has to hold, by id. */
type Contents = Readonly<Record<string, number>>;

/** A database on a disk, and what its calls were told. */
export class Site {
  readonly name: string;
  readonly codes: string[] = [];
  db!: Database;
  things!: Things;
  /** What is there by what was acknowledged. */
  contents: Contents = {};
  key: Uint8Array | undefined;
  /** Ends what was begun beside the database. */
  readonly ends: (() => unknown)[] = [];
  /** Options of later openings. */
  reopening: object = {};
  readonly #disk: Disk;
  readonly #options: object;

  constructor(name: string, disk: Disk, options: object = {}) {
    this.name = name;
    this.#disk = disk;
    this.#options = options;
    this.open();
  }

  get driver() {
    return this.#disk.driver;
  }

  open(more: object = this.reopening): void {
    this.reopening = more;
    const { key, driver } = this;
    const storage = key ? encrypted(driver, { key }) : driver;
    this.db = new Database({ name: this.name, storage });
    this.db.on('error', ({ error }) => this.codes.push(error.code));
    this.construct(more);
  }

  construct(more: object = {}): Things {
    this.things = new this.db.Collection<any>({
      ...{ name: 'things', type: 'DOCUMENT_BASED', activate_drop_method: true },
      ...{ backup_retention_time: -1, indexes: ['n'], ...this.#options, ...more },
    });
    return this.things;
  }

  async hear<T>(call: Promise<T>): Promise<T | undefined> {
    try {
      return await call;
    } catch (error) {
      this.codes.push((error as { code: string }).code);
      return undefined;
    }
  }

  /** Changes never wait for the disk. */
  async put(_id: string, n: number, length = 0): Promise<void> {
    await this.things.upsert({ _id, n, text: 'x'.repeat(length) });
    this.contents = { ...this.contents, [_id]: n };
  }

  async remove(id: string): Promise<void> {
    await this.things.delete(id);
    const { [id]: _gone, ...left } = this.contents;
    this.contents = left;
  }

  save = () => this.hear(this.db.save());

  async found(things = this.things): Promise<Contents> {
    const all = await things.filter({});
    return Object.fromEntries(all.map(({ _id, n }) => [_id, n]));
  }

  /** Has other contents from now on, if a call was made; the same, if it was refused. */
  async become(contents: Contents, call: Promise<unknown>): Promise<boolean> {
    const isMade = await this.hear(call.then(() => true));
    if (isMade) this.contents = contents;
    return isMade === true;
  }
}

export interface Scenario {
  readonly name: string;
  readonly options?: object;
  /** What is there when the disk becomes full. */
  before?(site: Site): Promise<void>;
  /** What is done on it. */
  act(site: Site): Promise<void>;
  /** What has to come once there is room. */
  after?(site: Site): Promise<void>;
}

const fill = async (site: Site, count = 5) => {
  for (let n = 0; n < count; n++) await site.put(`d${n}`, n, 2000);
  await site.db.save();
};

/** What a replication says of its errors counts, too. */
function watch(site: Site, sync: Replication<any>): Replication<any> {
  sync.on('status', ({ error }) => {
    if (error) site.codes.push((error as { code?: string }).code ?? String(error));
  });
  return sync;
}

/** A round that has begun before there was room may end in an error still. */
async function settle(sync: Replication<any>): Promise<void> {
  for (let isSettled = false; !isSettled; await setTimeout(2)) {
    sync.resume();
    isSettled = await sync.settled({ timeout: 60_000 }).then(
      () => true,
      (error) => error.code !== 'storage_full' && Promise.reject(error),
    );
  }
}

const replications = new WeakMap<Site, { remote: MemoryRemote; sync: Replication<any> }>();
const files = new Map<Site, { sync: Replication<any>; other: Database; copy: Replication<any> }>();
const shops = new WeakMap<
  Site,
  { shop: Shop; box: Outbox<any>; clock: FakeClock; items: string[] }
>();
const imports = new WeakMap<Site, Blob>();

const NEWER = {
  version: 2,
  migrate: { 2: ({ n, ...one }: any) => ({ ...one, n: n + 1000 }) },
};

const PHOTO = new Uint8Array(1_100_000).map((_, at) => at % 251);

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'saves of documents and values, alone and in a transaction',
    async act(site) {
      const values = new site.db.Collection<number>({ name: 'values', type: 'KEY_VALUE_BASED' });
      await site.put('a', 1);
      await site.hear(site.things.save());
      await values.set('k', 1);
      await site.db.transaction(async (tx) => {
        await tx(site.things).upsert({ _id: 'b', n: 2 });
        await tx(values).set('k', 2);
      });
      site.contents = { ...site.contents, b: 2 };
      await site.save();
      await site.remove('a');
      await site.hear(values.save());
      expect(await values.get('k')).toBe(2);
    },
    async after({ db }) {
      const values = new db.Collection<number>({ name: 'values', type: 'KEY_VALUE_BASED' });
      expect(await values.get('k')).toBe(2);
    },
  },
  {
    name: 'segments that are merged',
    before: (site) => fill(site),
    async act(site) {
      for (let n = 0; n < 7; n++) {
        await site.put(`m${n % 3}`, n, 60_000);
        await site.save();
        await setTimeout(1);
      }
    },
  },
  {
    name: 'a checkpoint with indexes of words and vectors',
    options: {
      indexes: ['n', { text: 'text' }, { vector: 'at', dimensions: 2, metric: 'dot' }],
    },
    async before(site) {
      const many = Array.from({ length: 3000 }, (_, n) => ({
        _id: `c${n}`,
        n,
        text: `word${n} a`,
      }));
      await site.things.insertMany(many);
      site.contents = Object.fromEntries(many.map(({ _id, n }) => [_id, n]));
    },
    async act(site) {
      await site.hear(site.db.close());
      if (site.db.status.state === 'closed') site.open();
      expect((await site.things.search('word7')).length).toBeGreaterThan(0);
      await site.put('c7', -7);
      await site.hear(site.db.close());
      if (site.db.status.state === 'closed') site.open();
    },
  },
  {
    name: 'backups made, restored and deleted, a drop and a new name',
    before: (site) => fill(site),
    async act(site) {
      const { contents } = site;
      const made = await site.hear(site.things.createBackup({ label: 'mine' }));
      await site.put('d1', 100);
      await site.remove('d2');
      if (made) {
        await site.become(contents, site.things.loadBackup(made));
        await site.put('d3', 300);
        await site.hear(site.things.restoreDocument('d3', made));
        site.contents = await site.found();
        await site.hear(site.things.deleteBackup(made));
      }
      const dropped = await site.become({}, site.things.Drop({ backup: true }));
      if (dropped) site.construct();
      await site.put('later', 1);
      const others = new site.db.Collection({ name: 'others', type: 'DOCUMENT_BASED' });
      await others.insert({ _id: 'one' });
      const renamed = await site.hear(site.db.renameCollection('others', 'renamed').then(() => 1));
      const name = renamed ? 'renamed' : 'others';
      const there = new site.db.Collection({ name, type: 'DOCUMENT_BASED' });
      expect(await there.count()).toBe(1);
    },
  },
  {
    name: 'files of backups taken in',
    async before(site) {
      await fill(site);
      const stream = await site.things.exportBackup(await site.things.createBackup());
      imports.set(site, await new Response(stream).blob());
      await site.put('d1', 100);
    },
    async act(site) {
      const file = imports.get(site) as Blob;
      const original = Object.fromEntries([0, 1, 2, 3, 4].map((n) => [`d${n}`, n]));
      await site.become(
        { ...site.contents, ...original },
        site.things.importBackup(file, { mode: 'merge' }),
      );
      await site.put('d9', 9);
      await site.become(original, site.things.importBackup(file));
      const stream = await site.hear(site.db.exportAll());
      const all = stream && (await site.hear(new Response(stream).blob()));
      const { contents } = site;
      await site.put('d2', 200);
      if (all) await site.become(contents, site.db.importAll(all));
    },
  },
  {
    name: 'a backup of the day at the opening',
    async before(site) {
      await fill(site);
      await site.db.close();
      site.open({ auto_create_backup: true });
    },
    async act(site) {
      await site.hear(site.things.ready as Promise<unknown>);
      await site.put('d1', 100);
      await site.save();
    },
  },
  {
    name: 'a migration',
    async before(site) {
      await fill(site, 20);
      await site.db.close();
      site.open(NEWER);
    },
    async act(site) {
      const before = Object.entries(site.contents);
      site.contents = Object.fromEntries(before.map(([id, n]) => [id, n + 1000]));
      // A call that fails is told so; the next one tries again.
      while (!(await site.hear(site.things.count()))) {
        if (site.codes.length > 3) break;
        site.construct(NEWER);
      }
    },
    async after(site) {
      site.construct(NEWER);
    },
  },
  {
    name: 'documents that expire',
    options: { expire_after: { field: 'at', seconds: 3600 } },
    before: (site) => fill(site),
    async act(site) {
      const at = new Date(Date.now() - 10_000_000);
      await site.things.insertMany(Array.from({ length: 9 }, (_, n) => ({ _id: `e${n}`, n, at })));
      expect(await site.things.count()).toBe(5);
      await site.save();
      await setTimeout(5);
      await site.put('d1', 100);
      await site.save();
    },
  },
  {
    name: 'pulls and pushes of a replication',
    async before(site) {
      const remote = new MemoryRemote();
      for (let n = 0; n < 5; n++) remote.write(`r${n}`, { n });
      const sync = replicate(site.things, { remote });
      await sync.settled({ timeout: 60_000 });
      watch(site, sync);
      replications.set(site, { remote, sync });
      site.ends.push(() => sync.stop());
      site.contents = await site.found();
    },
    async act(site) {
      const { remote, sync } = replications.get(site) as {
        remote: MemoryRemote;
        sync: Replication<any>;
      };
      sync.pause();
      await site.put('mine', 1, 3000);
      await site.put('r1', 11);
      await site.remove('r2');
      remote.write('theirs', { n: 5 });
      remote.edit('r3', { n: 33 });
      remote.edit('r1', { n: 12 });
      sync.resume();
      for (let tries = 0; tries < 3; tries++) {
        await setTimeout(5);
        sync.resume();
      }
    },
    async after(site) {
      const { remote, sync } = replications.get(site) as {
        remote: MemoryRemote;
        sync: Replication<any>;
      };
      await settle(sync);
      const there = Object.fromEntries(remote.documents().map(({ _id, n }: any) => [_id, n]));
      const here = await site.found();
      expect(here).toEqual(there);
      expect(here).toMatchObject({ mine: 1, theirs: 5, r0: 0, r3: 33, r4: 4 });
      expect('r2' in here).toBe(false);
      site.contents = here;
    },
  },
  {
    name: 'files of documents',
    async before(site) {
      const store = memory();
      const handler = createHandler({
        ...{ store, hold: 5, authorize: () => true },
        files: documentFiles({ store: memoryFiles() }),
      });
      const open = (things: Things) => {
        const remote = http({
          url: 'https://example.com/things',
          fetch: ((url: string, init: RequestInit) => handler(new Request(url, init))) as never,
        });
        return replicate(things, { remote, files: 'eager' });
      };
      const other = new Database({ name: 'other', storage: 'memory' });
      const copies = new other.Collection<any>({ name: 'things', type: 'DOCUMENT_BASED' });
      const copy = open(copies);
      await copies.insert({ _id: 'theirs', n: 2, photo: new Blob([PHOTO.subarray(0, 9000)]) });
      await copy.settled({ timeout: 60_000 });
      const sync = watch(site, open(site.things));
      site.ends.push(
        () => sync.stop(),
        () => copy.stop(),
        () => other.close(),
      );
      files.set(site, { sync, other, copy });
    },
    async act(site) {
      const { sync } = files.get(site) as { sync: Replication<any> };
      await site.things.insert({ _id: 'mine', n: 1, photo: new Blob([PHOTO]) });
      await site.save();
      for (let tries = 0; tries < 4; tries++) {
        await setTimeout(10);
        sync.resume();
      }
      await site.save();
    },
    async after(site) {
      const { sync, copy } = files.get(site) as { sync: Replication<any>; copy: Replication<any> };
      await settle(sync);
      await copy.settled({ timeout: 60_000 });
      for (const [one, id, bytes] of [
        [sync, 'mine', PHOTO],
        [copy, 'mine', PHOTO],
        [sync, 'theirs', PHOTO.subarray(0, 9000)],
      ] as const) {
        // A device settles without what it has not heard of yet.
        const isWhole = async () => {
          const photo = (await one.file(id, 'photo')) as Blob | undefined;
          return photo !== undefined && Buffer.from(await photo.arrayBuffer()).equals(bytes);
        };
        await expect.poll(isWhole, { timeout: 60_000 }).toBe(true);
      }
      site.contents = { mine: 1, theirs: 2 };
    },
  },
  {
    name: 'calls of an outbox',
    async before(site) {
      const [shop, clock] = [new Shop(), new FakeClock()];
      const { box, order } = openShop(site.db as never, shop, clock);
      site.ends.push(() => box.stop());
      shops.set(site, { shop, clock, items: [], box: Object.assign(box, { order }) as never });
      await order('first');
      await expect.poll(() => shop.items).toEqual(['first']);
    },
    async act(site) {
      const { shop, box, items } = shops.get(site) as any;
      for (const item of ['a', 'b', 'c']) {
        if (await site.hear(box.order(item))) items.push(item);
        await setTimeout(1);
      }
      expect(shop.items[0]).toBe('first');
    },
    async after(site) {
      const { shop, box, items } = shops.get(site) as any;
      // An attempt that has begun before there was room may fail still.
      while (
        !(await box.flush().then(
          () => true,
          () => false,
        ))
      )
        await setTimeout(2);
      // What a server has done, is on this device; once each, in order.
      expect(shop.items).toEqual(['first', ...items]);
    },
  },
  {
    name: 'another password',
    async before(site) {
      await site.db.close();
      site.key = new Uint8Array(32).fill(1);
      (site as { name: string }).name += ' encrypted';
      site.open();
      await fill(site);
    },
    async act(site) {
      const next = new Uint8Array(32).fill(2);
      const { name, driver: storage, key } = site;
      const change = changePassword({
        name,
        storage,
        key: key as Uint8Array,
        new_key: next,
      } as never);
      const isMade = await site.hear(change.then(() => true));
      await site.put('d1', 100);
      await site.save();
      if (isMade) site.key = next;
    },
  },
];
