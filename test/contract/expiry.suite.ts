import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { rejection, thrown } from './outcomes.ts';
import { schemaOf } from './schemas/libraries.ts';

const HOUR = 3_600_000;
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR);

interface Entry {
  _id: string;
  at?: unknown;
  n?: number;
  code?: string;
}

/** Values of the option, with the code and the place of the error. */
const REFUSED: [unknown, string, string][] = [
  [5, 'option_invalid', 'expire_after'],
  [null, 'option_invalid', 'expire_after'],
  [true, 'option_invalid', 'expire_after'],
  ['', 'option_invalid', 'expire_after.field'],
  ['a..b', 'option_invalid', 'expire_after.field'],
  ['__proto__', 'option_invalid', 'expire_after.field'],
  ['_id', 'option_invalid', 'expire_after.field'],
  ['_archived_at', 'option_invalid', 'expire_after.field'],
  ['_created_timestamp', 'option_invalid', 'expire_after.field'],
  ['_created_at', 'option_conflict', 'expire_after'],
  [{ field: '_updated_at', seconds: 1 }, 'option_conflict', 'expire_after'],
  [{}, 'option_missing', 'expire_after.field'],
  [{ seconds: 1 }, 'option_missing', 'expire_after.field'],
  [{ field: 'at' }, 'option_missing', 'expire_after.seconds'],
  [{ field: ['at'], seconds: 1 }, 'option_invalid', 'expire_after.field'],
  [{ field: 'at', seconds: -1 }, 'option_invalid', 'expire_after.seconds'],
  [{ field: 'at', seconds: Number.NaN }, 'option_invalid', 'expire_after.seconds'],
  [{ field: 'at', seconds: Number.POSITIVE_INFINITY }, 'option_invalid', 'expire_after.seconds'],
  [{ field: 'at', seconds: '60' }, 'option_invalid', 'expire_after.seconds'],
  [{ field: 'at', second: 60 }, 'option_unknown', 'second'],
  [[], 'option_invalid', 'expire_after'],
];

export function expirySuite(fixture: ClientFixture): void {
  describe('expire_after', () => {
    const open = (options: object = {}) =>
      fixture.documents<Entry>({ expire_after: 'at', indexes: ['n'], ...options });

    test.each(REFUSED)('the option refuses %j', (expire_after, code, place) => {
      const error = thrown(() => open({ expire_after }));
      expect(error).toMatchObject({ name: 'OptionError', code, place });
    });

    test('the option is for documents only', () => {
      const error = thrown(() => fixture.keyValues({ expire_after: 'at' } as object));
      expect(error).toMatchObject({
        name: 'OptionError',
        code: 'option_invalid',
        place: 'expire_after',
      });
    });

    test('nothing finds a document past its time', async () => {
      const entries = open();
      await entries.insertMany([
        { _id: 'past', at: inHours(-1), n: 1 },
        { _id: 'future', at: inHours(1), n: 1 },
        { _id: 'never', n: 2 },
      ]);
      expect(await entries.get('past')).toBeUndefined();
      expect(await entries.getMany(['past', 'never'])).toMatchObject([undefined, { _id: 'never' }]);
      expect(await entries.has({ _id: 'past' })).toBe(false);
      expect(await entries.find({ n: 1 })).toMatchObject({ _id: 'future' });
      expect(await entries.count()).toBe(2);
      expect(await entries.count({ n: 1 })).toBe(1);
      expect(await entries.count({ at: { $lt: inHours(2) } })).toBe(1);
      const ids = (await entries.filter({}, { sort: { n: -1 } })).map(({ _id }) => _id);
      expect(ids).toEqual(['never', 'future']);
      expect(await entries.filter(({ n }) => n === 1)).toHaveLength(1);
      expect(await entries.update('past', { _id: 'past', n: 5 })).toBeUndefined();
      expect(await entries.patchMany({}, { n: 7 })).toBe(2);
      expect(await entries.delete('past')).toBe(false);
    });

    test('a path means seconds 0, and a stamp is a time too', async () => {
      const entries = open({
        expire_after: { field: '_created_at', seconds: 3600 },
        indicate_created_at: true,
      });
      await entries.insert({ _id: 'new' });
      expect(await entries.count()).toBe(1);
      const gone = open({ name: 'gone', expire_after: '_created_at', indicate_created_at: true });
      await gone.insert({ _id: 'new' });
      expect(await gone.count()).toBe(0);
    });

    test('a document past its time takes no id, and no key of a unique index', async () => {
      const entries = open({ indexes: [{ fields: 'code', unique: true }] });
      await entries.insertMany([
        { _id: 'a', at: inHours(-1), code: 'x' },
        { _id: 'b', at: inHours(-1), code: 'y' },
      ]);
      await entries.insert({ _id: 'a', code: 'z' });
      await entries.insert({ _id: 'c', code: 'y' });
      expect(await entries.filter({})).toMatchObject([{ _id: 'a', code: 'z' }, { _id: 'c' }]);
      expect(await rejection(entries.insert({ _id: 'a' }))).toMatchObject({ code: 'id_taken' });
    });

    test('only a Date is a time, and anything else changes nothing', async () => {
      const entries = open({ expire_after: 'session.until' });
      const kept = { _id: 'a', session: { until: inHours(1) } };
      await entries.insert(kept as Entry);
      for (const until of ['tomorrow', 0, [new Date()], new Date(Number.NaN)]) {
        const document = { _id: 'a', session: { until } } as Entry;
        const refused = { name: 'ValueError', code: 'expiry_not_a_date' };
        for (const call of [
          () => entries.insert({ ...document, _id: 'b' }),
          () => entries.insertMany([{ _id: 'c' }, { ...document, _id: 'b' }]),
          () => entries.upsert(document),
          () => entries.upsertMany([document]),
          () => entries.update('a', document),
          () => entries.patch('a', { 'session.until': until } as object),
          () => entries.patchMany({}, { 'session.until': until } as object),
          () => entries.modify('a', () => document),
          () => fixture.db.transaction((tx) => tx(entries).update('a', document)),
        ])
          expect(await rejection(call())).toMatchObject(refused);
      }
      expect(await entries.filter({})).toMatchObject([kept]);
      for (const session of [undefined, null, { until: null }, 5])
        await entries.update('a', { _id: 'a', session } as Entry);
      expect(await entries.count()).toBe(1);
    });

    test('the output of a schema is what must be a Date, from every call', async () => {
      const schema = schemaOf((given) => {
        const { at, ...rest } = given as Entry;
        return { value: { ...rest, at: at === 'soon' ? inHours(1) : at === 'never' ? 0 : at } };
      });
      const entries = open({ schema });
      for (const at of ['soon', 'never']) {
        const calls = [
          () => entries.upsert({ _id: 'a', at }),
          () => entries.patch('a', { at }),
          () => entries.patch('a', { $set: { at } }),
          () => entries.patchMany({}, { at }),
          () => entries.modify('a', (entry) => ({ ...entry, at })),
          () => fixture.db.transaction((tx) => tx(entries).patchMany({}, { at })),
        ];
        for (const call of calls) {
          const made = call();
          if (at === 'soon') await made;
          else expect(await rejection(made)).toMatchObject({ code: 'expiry_not_a_date' });
        }
        expect((await entries.get('a'))?.at).toBeInstanceOf(Date);
      }
    });

    test('transactions see what had not expired when they began', async () => {
      const entries = open();
      await entries.insertMany([
        { _id: 'past', at: inHours(-1) },
        { _id: 'here', n: 1 },
      ]);
      const found = await fixture.db.transaction(async (tx) => {
        const own = tx(entries);
        await own.insert({ _id: 'past', n: 3 });
        return [
          await own.count(),
          (await own.filter({})).map(({ _id }) => _id),
          await own.get('past'),
        ];
      });
      expect(found).toMatchObject([2, ['here', 'past'], { n: 3 }]);
      expect(await entries.count()).toBe(2);
    });

    test('a live query drops a document at its time', async () => {
      const entries = open();
      await entries.insertMany([
        { _id: 'soon', at: new Date(Date.now() + 400) },
        { _id: 'past', at: inHours(-1) },
        { _id: 'never' },
      ]);
      const shown: string[] = [];
      const live = entries.live({});
      let stop: () => void = () => undefined;
      await new Promise<void>((resolve) => {
        stop = live.subscribe(({ data }) => {
          if (data) shown.push(data.map(({ _id }) => _id).join());
          if (shown.at(-1) === 'never') resolve();
        });
      });
      expect(shown.join(' ')).not.toContain('past');
      stop();
    });

    test('what has expired stays gone when the collection is opened again', async () => {
      const entries = open();
      await entries.insertMany([
        { _id: 'past', at: inHours(-1) },
        { _id: 'future', at: inHours(1) },
      ]);
      await entries.save();
      await fixture.reopen();
      const again = open();
      expect(await again.filter({})).toMatchObject([{ _id: 'future' }]);
      expect(await again.get('past')).toBeUndefined();
    });
  });
}
