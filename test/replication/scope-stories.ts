import { expect, test } from 'vitest';
import { http, type Remote } from '../../src/replication/index.ts';
import { createHandler, type HandlerOptions, type Store } from '../../src/server/index.ts';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { Device } from './device.ts';

/** A server over a store. */
export class Office {
  readonly remote: Remote<string>;
  /** The same for another device. */
  readonly connect: () => Remote<string>;
  /** A request without a remote. */
  readonly ask: (route: string, body: object) => Promise<Response>;
  readonly #store: Store;
  #pushes = 0;
  /** Requests so far. */
  readonly requests: string[] = [];
  isCut = false;

  constructor(store: Store, options: Partial<HandlerOptions> = {}) {
    this.#store = store;
    const handler = createHandler({
      ...{ store, authorize: () => true, hold: 20 },
      scopes: { owner: (owner) => ({ owner }), state: (state) => ({ state }) },
      ...options,
    });
    const fetch = async (url: string, init: RequestInit) => {
      if (this.isCut) throw new TypeError('no connection');
      this.requests.push(`${url.split('/').at(-1)} ${init.body}`);
      return handler(new Request(url, init));
    };
    // Its own function of headers: a stream of its own.
    const url = 'https://example.com/jobs';
    this.connect = () => http({ url, headers: () => ({}), fetch: fetch as never });
    this.remote = this.connect();
    this.ask = (route, body) =>
      fetch(`${url}/${route}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
  }

  async write(id: string, fields: object | undefined): Promise<void> {
    const [row] = await this.#store.read('jobs', [id]);
    const document = fields && { _id: id, ...row?.document, ...fields };
    const [result] = await this.#store.push('jobs', [
      { id, base: row?.version, key: `office.${++this.#pushes}`, document },
    ]);
    expect(result).toHaveProperty('version');
  }

  async document(id: string): Promise<object | null | undefined> {
    const [row] = await this.#store.read('jobs', [id]);
    return row?.document;
  }
}

export function deviceOf(
  { remote }: { readonly remote: Remote<any> },
  scopes: readonly object[] | undefined,
  database?: object,
) {
  const device = new Device(remote, { scopes: scopes as never }, database as never);
  return { device, jobs: device.orders as any, settled: () => device.settled() };
}

export const idsOf = async (device: Device) => Object.keys(await device.all()).sort();

/** A pull without a checkpoint. */
const FROM_START = /"after":null|since=0\b/;

/** What scopes do with any server. @param open Opens an empty one with the scopes of an office. */
export function commonScopeStories(
  open: () => Promise<
    Pick<Office, 'write' | 'document' | 'requests'> & { readonly remote: Remote<any> }
  >,
): void {
  test('a device has the documents of its scopes, and no others; what leaves all of them goes', async () => {
    const office = await open();
    await office.write('a', { owner: 'ada', state: 'open' });
    await office.write('b', { owner: 'ben', state: 'open' });
    await office.write('c', { owner: 'ben', state: 'done' });
    await office.write('d', { owner: 'cid', state: 'done' });
    const { device, settled } = deviceOf(office, [{ owner: 'ada' }, { state: 'open' }]);
    await settled();
    expect(await idsOf(device)).toEqual(['a', 'b']);
    await office.write('a', { owner: 'ben' });
    await office.write('b', { state: 'done' });
    await office.write('c', { owner: 'ada' });
    await settled();
    // a is open still.
    expect(await idsOf(device)).toEqual(['a', 'c']);
    await office.write('a', { state: 'done' });
    await office.write('c', undefined);
    await settled();
    expect(await idsOf(device)).toEqual([]);
    expect(device.sync.status).toMatchObject({ state: 'idle', pending: 0 });
  });

  test('an unpushed change of a document that leaves is on the server before it goes', async () => {
    const office = await open();
    await office.write('a', { owner: 'ada', note: 'old' });
    const { device, jobs, settled } = deviceOf(office, [{ owner: 'ada' }]);
    await settled();
    device.sync.pause();
    await jobs.patch('a', { note: 'mine' });
    await office.write('a', { owner: 'ben' });
    device.sync.resume();
    await settled();
    expect(await office.document('a')).toMatchObject({ owner: 'ben', note: 'mine' });
    expect(await idsOf(device)).toEqual([]);
  });

  test('documents that are given away here, or made for others, go once they are pushed', async () => {
    const office = await open();
    await office.write('a', { owner: 'ada' });
    const { device, jobs, settled } = deviceOf(office, [{ owner: 'ada' }]);
    await settled();
    await jobs.patch('a', { owner: 'ben' });
    await jobs.insert({ _id: 'b', owner: 'ben' });
    await jobs.insert({ _id: 'c', owner: 'ada' });
    await settled();
    expect(await idsOf(device)).toEqual(['c']);
    for (const [id, owner] of Object.entries({ a: 'ben', b: 'ben', c: 'ada' }))
      expect(await office.document(id)).toMatchObject({ owner });
    await office.write('a', { owner: 'ada' });
    await settled();
    expect(await idsOf(device)).toEqual(['a', 'c']);
  });

  test('a deletion here and on the server leaves nothing', async () => {
    const office = await open();
    for (const id of ['a', 'b']) await office.write(id, { owner: 'ada' });
    const { device, jobs, settled } = deviceOf(office, [{ owner: 'ada' }]);
    await settled();
    await jobs.delete('a');
    await office.write('b', undefined);
    await jobs.insert({ _id: 'x', owner: 'ben' });
    await jobs.delete('x');
    await settled();
    expect(await idsOf(device)).toEqual([]);
    expect(await office.document('a')).toBe(null);
    await jobs.insert({ _id: 'a', owner: 'ada' });
    await settled();
    expect(await office.document('a')).toMatchObject({ owner: 'ada' });
  });

  test('scopes are added and removed, each with its own cursor, and stay after a reload', async () => {
    const office = await open();
    await office.write('a', { owner: 'ada', state: 'open' });
    await office.write('b', { owner: 'ben', state: 'open' });
    await office.write('c', { owner: 'ben', state: 'done' });
    const database = { name: crypto.randomUUID(), storage: faultyDriver() };
    let { device, jobs, settled } = deviceOf(office, [{ owner: 'ada' }], database);
    await settled();
    await device.sync.scopes.add({ state: 'open' });
    await settled();
    expect(await idsOf(device)).toEqual(['a', 'b']);
    await device.close();
    ({ device, jobs, settled } = deviceOf(office, [{ owner: 'ada' }], database));
    office.requests.length = 0;
    await settled();
    expect(office.requests.filter((one) => FROM_START.test(one))).toEqual([]);
    expect(await device.sync.scopes.list()).toEqual([{ owner: 'ada' }, { state: 'open' }]);
    expect(await idsOf(device)).toEqual(['a', 'b']);
    await jobs.patch('b', { note: 'mine' });
    await device.sync.scopes.remove({ state: 'open' });
    await settled();
    expect(await idsOf(device)).toEqual(['a']);
    expect(await office.document('b')).toMatchObject({ note: 'mine' });
    await device.close();
    ({ device, settled } = deviceOf(office, [], database));
    await settled();
    expect(await idsOf(device)).toEqual([]);
    await device.close();
    // The whole collection again.
    ({ device, settled } = deviceOf(office, undefined, database));
    await settled();
    expect(await idsOf(device)).toEqual(['a', 'b', 'c']);
  });
}

/** What scopes do over a store. @param storeOf Makes an empty one. */
export function scopeStories(storeOf: () => Promise<Store> | Store): void {
  commonScopeStories(async () => new Office(await storeOf()));

  test('rights that change move documents in and out, also of documents that nobody writes', async () => {
    let projects: string[] | undefined = ['p', 'q'];
    const scopes = { mine: () => (projects ? { project: { $in: projects } } : false) } as const;
    const office = new Office(await storeOf(), { scopes });
    for (const [id, project] of ['p', 'q', 'r'].entries()) await office.write(`${id}`, { project });
    const { device, jobs, settled } = deviceOf(office, [{ mine: true }]);
    await settled();
    expect(await idsOf(device)).toEqual(['0', '1']);
    projects = ['q', 'r'];
    await settled();
    expect(await idsOf(device)).toEqual(['1', '2']);
    device.sync.pause();
    await jobs.patch('1', { note: 'mine' });
    projects = undefined;
    device.sync.resume();
    await settled();
    expect(await idsOf(device)).toEqual([]);
    expect(await office.document('1')).toMatchObject({ note: 'mine' });
    projects = ['p'];
    await settled();
    expect(await idsOf(device)).toEqual(['0']);
  });

  test('of documents that a scope never had, nothing is told', async () => {
    const office = new Office(await storeOf());
    await office.write('a', { owner: 'ada' });
    const { settled } = deviceOf(office, [{ owner: 'ada' }]);
    await settled();
    const seen: unknown[] = [];
    const pull = office.remote.pull.bind(office.remote);
    office.remote.pull = async (...asked) => {
      const page = await pull(...asked);
      seen.push(...page.changes);
      return page;
    };
    await office.write('b', { owner: 'ben' });
    await office.write('b', undefined);
    await settled();
    expect(seen).toEqual([]);
    await office.write('a', { owner: 'ben', secret: 1 });
    await settled();
    expect(seen).toEqual([
      { id: 'a', version: expect.any(String), document: undefined, left: true },
    ]);
  });

  test('many documents come in pages, of a scope that has few of them as well', async () => {
    const store = await storeOf();
    const office = new Office(store);
    const rows = Array.from({ length: 3000 }, (_, at) => {
      const id = `j${at}`;
      const owner = at % 100 === 0 ? 'ada' : 'ben';
      return { id, key: `k.${id}`, document: { _id: id, owner, state: at % 2 ? 'open' : 'done' } };
    });
    await store.push('jobs', rows as never);
    const { device, settled } = deviceOf(office, [{ owner: 'ada' }, { state: 'open' }]);
    await settled();
    expect(await idsOf(device)).toHaveLength(1530);
    await device.sync.scopes.add({ owner: 'ben' });
    await settled();
    expect(await idsOf(device)).toHaveLength(3000);
  });
}
