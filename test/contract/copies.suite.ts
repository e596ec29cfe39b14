import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';

const document = () => ({ list: [1, { deep: true }], at: new Date(5), map: new Map([['a', [1]]]) });
type Thing = ReturnType<typeof document>;

function spoil(thing: Thing): void {
  thing.list.push(2);
  (thing.list[1] as { deep: boolean }).deep = false;
  thing.at.setTime(0);
  thing.map.get('a')?.push(2);
  Object.assign(thing, { more: 1 });
}

/** Arguments are copied, results belong to the caller. */
export function copiesSuite(fixture: ClientFixture): void {
  describe('copies', () => {
    test('changing an argument after a call does not change stored data', async () => {
      const things = fixture.documents<Thing>();
      const given = document();
      const inserting = things.insert(given);
      spoil(given);
      const { _id } = await inserting;
      expect(await things.get(_id)).toMatchObject(document());

      const replacement = document();
      const updating = things.update(_id, replacement);
      spoil(replacement);
      await updating;
      expect(await things.get(_id)).toMatchObject(document());

      const patch = { list: [7] };
      const patching = things.patch(_id, patch);
      patch.list.push(8);
      expect((await patching)?.list).toEqual([7]);

      const upserted = { _id, ...document() };
      const upserting = things.upsert(upserted);
      spoil(upserted);
      await upserting;
      expect(await things.get(_id)).toMatchObject(document());
    });

    test('a flat document is copied, too', async () => {
      const things = fixture.documents<{ list: number[] }>();
      const given = { list: [1] };
      const inserting = things.insert(given);
      given.list.push(2);
      expect((await inserting).list).toEqual([1]);
    });

    test('changing the list of insertMany after the call has no effect', async () => {
      const things = fixture.documents<{ n: number }>();
      const list = [{ n: 1 }, { n: 2 }];
      const inserting = things.insertMany(list);
      list.length = 0;
      expect((await inserting).map(({ n }) => n)).toEqual([1, 2]);
    });

    test('changing a result does not change stored data', async () => {
      const things = fixture.documents<Thing>();
      const stored = await things.insert(document());
      const { _id } = stored;
      const outcomes = [
        stored,
        await things.get(_id),
        await things.find({ _id }),
        await things.find(() => true),
        ...(await things.filter({})),
        ...(await things.filter(() => true)),
        await things.update(_id, document()),
        await things.patch(_id, {}),
        await things.upsert({ _id, ...document() }),
      ];
      for (const outcome of outcomes) {
        spoil(outcome as Thing);
        const now = await things.get(_id);
        expect(now).toMatchObject(document());
        expect(Object.keys(now as object).includes('more')).toBe(false);
      }
    });

    test('two calls return two copies', async () => {
      const things = fixture.documents<Thing>();
      const { _id } = await things.insert(document());
      const [one, two] = await Promise.all([things.get(_id), things.get(_id)]);
      expect(one).toEqual(two);
      expect(one === two).toBe(false);
      expect(one?.at === two?.at).toBe(false);
      expect(one?.list === two?.list).toBe(false);
    });

    test('hold for key-values too', async () => {
      const values = fixture.keyValues<Thing>();
      const given = document();
      const setting = values.set('a', given);
      spoil(given);
      const back = await setting;
      expect(back).toEqual(document());
      for (const out of [back, await values.get('a'), (await values.entries())[0]?.[1]]) {
        spoil(out as Thing);
        expect(await values.get('a')).toEqual(document());
      }
      const item = { deep: [1] };
      const pushing = values.push('list', item);
      item.deep.push(2);
      const pushed = (await pushing) as (typeof item)[];
      expect(pushed).toEqual([{ deep: [1] }]);
      for (const { deep } of pushed) deep.push(3);
      const found = (await values.find<typeof item>('list', {})) as typeof item;
      found.deep.push(4);
      await values.filter<typeof item>('list', ({ deep }) => deep.push(5));
      expect(await values.get('list')).toEqual([{ deep: [1] }]);
    });

    test('a typed array copies only its part of the buffer', async () => {
      const things = fixture.documents<{ bytes: Uint8Array }>();
      const buffer = new Uint8Array([1, 2, 3, 4]).buffer;
      const { bytes } = await things.insert({ bytes: new Uint8Array(buffer, 1, 2) });
      expect([...bytes]).toEqual([2, 3]);
      expect(bytes.buffer === buffer).toBe(false);
    });
  });
}
