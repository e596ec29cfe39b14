import fc from 'fast-check';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { memoryDriver } from '../../src/index.ts';
import { http, type ReplicationOptions } from '../../src/replication/index.ts';
import { createHandler, memory } from '../../src/server/index.ts';
import { closeDevices, Device } from '../replication/device.ts';

afterEach(closeDevices);

type Read = (document: Readonly<Record<string, unknown>>) => boolean;

/** A server whose users see what is theirs, or what `read` lets them. */
class Ward {
  store = memory();
  /** Answers to pushes that get lost. */
  lost = 0;
  read: (user: string) => Read = (user) => (document) => document.owner === user;

  device(
    user: string,
    options: Partial<ReplicationOptions<any>> = {},
    database?: ConstructorParameters<typeof Device>[2],
  ) {
    const handle = (request: Request) =>
      createHandler({
        ...{ store: this.store, hold: 20 },
        authorize: () => ({ read: (document) => this.read(user)(document) }),
      })(request);
    const fetch = async (url: string, init: RequestInit) => {
      const answer = await handle(new Request(url, init));
      if (!url.endsWith('/push') || this.lost === 0) return answer;
      this.lost--;
      throw new TypeError('lost');
    };
    const remote = http({ url: 'https://example.com/sync/orders', fetch: fetch as never });
    return new Device(remote, options, database) as Device & { orders: any };
  }
}

async function settled(...devices: Device[]): Promise<void> {
  for (const device of [...devices, ...devices]) {
    device.sync.resume();
    await device.settled();
  }
}

const idsOf = async (device: Device) => Object.keys(await device.all()).sort();

describe('a document that its user may not read any more', () => {
  test.each(['live', 'reopened'])('leaves the device that gave it away: %s', async (how) => {
    const ward = new Ward();
    const database = { name: `given ${how}`, storage: memoryDriver() };
    let ada = ward.device('ada', {}, database);
    const ben = ward.device('ben');
    await ada.orders.insert({ _id: 'a', owner: 'ada' });
    await ada.orders.insert({ _id: 'b', owner: 'ada' });
    await settled(ada);
    await ada.orders.patch('a', { owner: 'ben' });
    await settled(ada, ben);
    if (how === 'reopened') {
      await ada.close();
      ada = ward.device('ada', {}, database);
      await settled(ada);
    }
    expect(await idsOf(ada)).toEqual(['b']);
    expect(await idsOf(ben)).toEqual(['a']);
    await ben.orders.patch('a', { owner: 'ada' });
    await settled(ben, ada);
    expect(await idsOf(ada)).toEqual(['a', 'b']);
    expect(await idsOf(ben)).toEqual([]);
    for (const { sync } of [ada, ben]) expect(await sync.rejected()).toEqual([]);
  });

  test('goes when its server is replaced, without a write', async () => {
    const ward = new Ward();
    const ada = ward.device('ada');
    await ada.orders.insertMany(['a', 'b'].map((_id) => ({ _id, owner: 'ada' })));
    await settled(ada);
    ward.read =
      () =>
      ({ _id }) =>
        _id !== 'a';
    ward.store = ward.store.copy();
    await settled(ada);
    expect(await idsOf(ada)).toEqual(['b']);
    expect(await ada.sync.rejected()).toEqual([]);
    ward.read = () => () => true;
    ward.store = ward.store.copy();
    await settled(ada);
    expect(await idsOf(ada)).toEqual(['a', 'b']);
  });

  test('and that was edited meanwhile is gone once that is given up', async () => {
    const ward = new Ward();
    const ada = ward.device('ada');
    await ada.orders.insert({ _id: 'a', owner: 'ada' });
    await settled(ada);
    ada.sync.pause();
    ward.read = () => () => false;
    ward.store = ward.store.copy();
    await ada.orders.patch('a', { note: 'mine' });
    await settled(ada);
    expect(await ada.sync.rejected()).toMatchObject([{ id: 'a', document: { note: 'mine' } }]);
    expect(await ada.sync.revert('a')).toBe(true);
    expect(await idsOf(ada)).toEqual([]);
  });
});

describe('devices of several users', () => {
  const USERS = ['ada', 'ada', 'ben'];
  const ids = fc.constantFrom('a', 'b', 'c');
  const owners = fc.constantFrom('ada', 'ben', 'all');
  const device = fc.nat(USERS.length - 1);
  const step = fc.oneof(
    fc.record({ device, insert: ids, owner: owners }),
    fc.record({ device, give: ids, owner: owners }),
    fc.record({ device, edit: ids, n: fc.nat(9) }),
    fc.record({ device, count: ids }),
    fc.record({ lose: fc.integer({ min: 1, max: 2 }) }),
    fc.record({ device, remove: ids }),
    fc.record({ device, settle: fc.constant(true) }),
    fc.record({ device, reopen: fc.constant(true) }),
    fc.record({ device, replace: fc.constant(true) }),
    fc.record({ device, hide: fc.constantFrom('a', 'b', undefined) }),
  );

  test('have what each may read, and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
        const ward = new Ward();
        let hidden: string | undefined;
        const mayRead = (user: string) => (one: any) =>
          (one.owner === user || one.owner === 'all') && (one._id !== hidden || user === 'ben');
        ward.read = mayRead;
        const databases = USERS.map(() => ({ name: `ward ${++wards}`, storage: memoryDriver() }));
        const open = (at: number) => ward.device(USERS[at] as string, {}, databases[at]);
        const devices = USERS.map((_, at) => open(at));
        for (const each of devices) await each.settled();
        for (const each of devices) each.sync.pause();
        for (const one of steps as any[]) {
          if (one.lose) ward.lost = one.lose;
          if (one.device === undefined) continue;
          const { orders } = devices[one.device] as (typeof devices)[0];
          const { owner } = one;
          if (one.insert) await orders.upsert({ _id: one.insert, owner });
          else if (one.give) await orders.patch(one.give, { owner });
          else if (one.edit) await orders.patch(one.edit, { n: one.n });
          else if (one.count) await orders.patch(one.count, { $inc: { n: 1 } });
          else if (one.remove) await orders.delete(one.remove);
          else if (one.replace) ward.store = ward.store.copy();
          else if ('hide' in one) {
            hidden = one.hide;
            // Rights that change without a write reach devices with another epoch alone.
            ward.store = ward.store.copy();
          } else if (one.settle) {
            await settled(devices[one.device] as Device);
            devices[one.device]?.sync.pause();
          } else if (one.reopen) {
            await devices[one.device]?.close();
            devices[one.device] = open(one.device);
            devices[one.device]?.sync.pause();
          }
        }
        ward.lost = 0;
        await settled(...devices);
        // What others have written meanwhile may refuse one anew.
        for (let round = 0; round < 3; round++) {
          for (const { sync } of devices)
            for (const { id } of await sync.rejected()) await sync.revert(id);
          await settled(...devices);
        }
        const { changes } = await ward.store.pull('orders', undefined, 100);
        const stored = changes.flatMap(({ document }) => (document ? [document as any] : []));
        for (const [at, each] of devices.entries()) {
          const readable = stored.filter(mayRead(USERS[at] as string));
          const wanted = readable.map(({ _id, owner, n }) => [_id, { owner, n }]);
          const found = Object.entries(await each.all()).map(([id, { owner, n }]: any) => [
            id,
            { owner, n },
          ]);
          expect(Object.fromEntries(found), `device ${at}`).toEqual(Object.fromEntries(wanted));
          expect(await each.sync.rejected(), `device ${at}`).toEqual([]);
        }
        await closeDevices();
      }),
      { numRuns: 50 * inject('effort') },
    );
  }, 3_600_000);
});

let wards = 0;
