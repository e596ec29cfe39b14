import { afterEach, describe, expect, test } from 'vitest';
import type { Remote } from '../../src/replication/protocol/remote.ts';
import { Random } from '../setup/random.ts';
import { closeDevices } from './device.ts';
import { documentedRemote } from './documented-remote.ts';
import { MemoryRemote } from './memory-remote.ts';
import { type Phone, phones, settled } from './phone.ts';

afterEach(closeDevices);

function memoryRemote(keys: MemoryRemote['keys']): Remote<number> {
  const remote = new MemoryRemote();
  remote.keys = keys;
  return remote;
}

/** Servers that know their clients' pushes in different ways. */
const SERVERS: Record<string, () => Promise<Remote<number>> | Remote<number>> = {
  'sends keys': () => memoryRemote('sent'),
  'keeps keys to itself': () => memoryRemote('kept'),
  'knows no keys': () => memoryRemote('none'),
  'is that of the documentation': documentedRemote,
};

describe.each(Object.keys(SERVERS))('a server that %s', (kind) => {
  describe.each([false, true])('after a push without an answer, reload: %s', (reloads) => {
    const start = async (document: object) => {
      const [a, b] = await phones(await (SERVERS[kind] as () => Remote<number>)());
      await a.orders.insert({ _id: 'o', ...document });
      for (const one of [a, b]) await one.settled();
      return [a, b] as const;
    };
    const reload = async (a: Phone) => reloads && a.reload();

    test('the fields of this device are its own, with a change of another one on top', async () => {
      const [a, b] = await start({ a: 0, b: 0 });
      await a.orders.patch('o', { a: 1 });
      await a.attempt('answer');
      await b.settled();
      await b.orders.patch('o', { b: 1 });
      await b.settled();
      await reload(a);
      await a.orders.patch('o', { a: 2 });
      expect(await settled(a, b)).toMatchObject({ o: { a: 2, b: 1 } });
    });

    test('so they are where another push has been lost since', async () => {
      const [a, b] = await start({ a: 0, b: 0 });
      await a.orders.patch('o', { a: 1 });
      await a.attempt('answer');
      await a.orders.patch('o', { a: 2 });
      await reload(a);
      await a.attempt('request');
      await b.settled();
      await b.orders.patch('o', { b: 1 });
      await b.settled();
      await a.orders.patch('o', { a: 3 });
      expect(await settled(a, b)).toMatchObject({ o: { a: 3, b: 1 } });
    });

    test('an edit of the same field wins', async () => {
      const [a, b] = await start({ a: 0 });
      await a.orders.patch('o', { a: 1 });
      await a.attempt('answer');
      await reload(a);
      await a.orders.patch('o', { a: 2 });
      expect(await settled(a, b)).toMatchObject({ o: { a: 2 } });
    });

    test('an edit that takes it back wins', async () => {
      const [a, b] = await start({ a: 0 });
      await a.orders.patch('o', { a: 1 });
      await a.attempt('answer');
      await reload(a);
      await a.orders.patch('o', { a: 0 });
      expect(await settled(a, b)).toMatchObject({ o: { a: 0 } });
    });

    test.each(['upsert', 'delete and insert', 'update'])(
      'what is removed by %s stays away',
      async (how) => {
        const [a, b] = await phones(await (SERVERS[kind] as () => Remote<number>)());
        await a.orders.insert({ _id: 'o', n: 1, secret: 's' });
        await a.attempt('answer');
        await reload(a);
        if (how === 'upsert') await a.orders.upsert({ _id: 'o', n: 2 });
        else if (how === 'update') await a.orders.update('o', { n: 2 });
        else {
          await a.orders.delete('o');
          await a.orders.insert({ _id: 'o', n: 2 });
        }
        const { o } = (await settled(a, b)) as { o: { n: number; secret?: string } };
        expect(o).toMatchObject({ n: 2 });
        expect(o).not.toHaveProperty('secret');
      },
    );

    test('a new document that is deleted since is deleted everywhere', async () => {
      const [a, b] = await phones(await (SERVERS[kind] as () => Remote<number>)());
      await a.orders.insert({ _id: 'o', n: 1 });
      await a.attempt('answer');
      await reload(a);
      await a.orders.delete('o');
      expect(await settled(a, b)).toEqual({});
    });

    test('the deletion by another device of a new one that is edited is a conflict', async () => {
      const [a, b] = await phones(await (SERVERS[kind] as () => Remote<number>)());
      await a.orders.insert({ _id: 'o', n: 1 });
      await a.attempt('answer');
      await reload(a);
      await a.orders.patch('o', { n: 2 });
      a.lags = true;
      await a.attempt('request');
      a.lags = false;
      await b.settled();
      await b.orders.delete('o');
      await b.settled();
      await a.settled();
      expect(a.device.sync.conflicts()).toMatchObject([{ local: { n: 2 }, result: { n: 2 } }]);
      await b.settled();
      expect(await b.device.all()).toEqual(await a.device.all());
    });

    const isKnown = kind !== 'knows no keys';
    test(`the deletion of another device ${isKnown ? 'holds' : 'is a conflict'}`, async () => {
      const [a, b] = await start({ a: 0 });
      await a.orders.patch('o', { a: 1 });
      await a.attempt('answer');
      await b.settled();
      await b.orders.delete('o');
      await b.settled();
      await reload(a);
      await a.settled();
      // Without keys nothing tells whether the other device has seen the change that it deletes.
      expect(a.device.sync.conflicts().length).toBe(isKnown ? 0 : 1);
      await b.settled();
      expect(await b.device.all()).toEqual(await a.device.all());
      expect(Object.keys(await a.device.all())).toEqual(isKnown ? [] : ['o']);
    });
  });

  test('no value that one device alone has written is replaced, whatever is lost', async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = new Random(seed);
      const both = await phones(await (SERVERS[kind] as () => Remote<number>)());
      const [first] = both;
      await first.orders.insert({ _id: 'o', start: seed });
      for (const one of both) await one.settled();
      const own: (number | undefined)[] = [undefined, undefined];
      for (let step = 1; step < 12; step++) {
        const index = random.below(2);
        const phone = both[index] as Phone;
        const kind = random.below(6);
        if (kind < 3) {
          own[index] = random.chance(0.2) ? undefined : step;
          const change = own[index]
            ? { $set: { [`f${index}`]: step } }
            : { $unset: { [`f${index}`]: '' } };
          await phone.orders.patch('o', change);
        } else if (kind === 3) await phone.reload();
        else await phone.attempt(random.pick([undefined, 'answer', 'answer', 'request'] as const));
      }
      const { o } = (await settled(...both)) as { o: { f0?: number; f1?: number } };
      expect([seed, o.f0, o.f1]).toEqual([seed, ...own]);
      await closeDevices();
    }
  });
});
