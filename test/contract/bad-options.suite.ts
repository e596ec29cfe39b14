import { describe, expect, test } from 'vitest';
import type { ClientFixture } from './client-fixture.ts';
import { rejection, thrown } from './outcomes.ts';

const fn = () => true;
const cyclic: unknown[] = [];
cyclic.push(cyclic);

/** Of one segment more than documents have levels. */
const DEEP = `${'a.'.repeat(500)}a`;

/** Options of finding methods: the class of the error, its code, its place. */
const OPTIONS: [unknown, string, string, string][] = [
  [{ limit: -1 }, 'OptionError', 'option_invalid', 'limit'],
  [{ limit: 1.5 }, 'OptionError', 'option_invalid', 'limit'],
  [{ limit: '2' }, 'OptionError', 'option_invalid', 'limit'],
  [{ limit: null }, 'OptionError', 'option_invalid', 'limit'],
  [{ limit: Number.NaN }, 'OptionError', 'option_invalid', 'limit'],
  [{ skip: -1 }, 'OptionError', 'option_invalid', 'skip'],
  [{ skip: Number.POSITIVE_INFINITY }, 'OptionError', 'option_invalid', 'skip'],
  [{ skip: [] }, 'OptionError', 'option_invalid', 'skip'],
  [{ archived: 'both' }, 'OptionError', 'option_invalid', 'archived'],
  [{ where: { n: 1 } }, 'OptionError', 'option_invalid', 'where'],
  [{ where: 'n' }, 'OptionError', 'option_invalid', 'where'],
  [{ signal: 5 }, 'OptionError', 'option_invalid', 'signal'],
  [{ signal: {} }, 'OptionError', 'option_invalid', 'signal'],
  [{ signal: { aborted: false } }, 'OptionError', 'option_invalid', 'signal'],
  [{ signal: null }, 'OptionError', 'option_invalid', 'signal'],
  [{ after: 'a' }, 'OptionError', 'option_invalid', 'after'],
  [{ after: {} }, 'OptionError', 'option_invalid', 'after'],
  [{ after: { _id: 5 } }, 'OptionError', 'option_invalid', 'after'],
  [{ after: null }, 'OptionError', 'option_invalid', 'after'],
  [{ after: { _id: 'nobody' } }, 'CriteriaError', 'after_unknown', 'after'],
  [{ after: { _id: 'a', n: fn } }, 'ValueError', 'value_unsupported', 'after.n'],
  [{ limt: 5 }, 'OptionError', 'option_unknown', 'limt'],
  [5, 'OptionError', 'option_invalid', 'options'],
  ['sort', 'OptionError', 'option_invalid', 'options'],
  [[], 'OptionError', 'option_invalid', 'options'],
  [new Map([['limit', 1]]), 'OptionError', 'option_invalid', 'options'],
  [new AbortController().signal, 'OptionError', 'option_invalid', 'options'],
  [{ sort: 'n' }, 'CriteriaError', 'sort_invalid', 'sort'],
  [{ sort: ['n'] }, 'CriteriaError', 'sort_invalid', 'sort'],
  [{ sort: null }, 'CriteriaError', 'sort_invalid', 'sort'],
  [{ sort: 0 }, 'CriteriaError', 'sort_invalid', 'sort'],
  [{ sort: { n: 2 } }, 'CriteriaError', 'sort_invalid', 'sort.n'],
  [{ sort: { n: 'asc' } }, 'CriteriaError', 'sort_invalid', 'sort.n'],
  [{ sort: { n: 1, home: { city: 1 } } }, 'CriteriaError', 'sort_invalid', 'sort.home'],
  [{ sort: { 'home..city': 1 } }, 'CriteriaError', 'sort_invalid', 'sort.home..city'],
  [{ sort: { '': 1 } }, 'CriteriaError', 'sort_invalid', 'sort.'],
  [{ sort: { 'a.__proto__': 1 } }, 'CriteriaError', 'sort_invalid', 'sort.a.__proto__'],
  [{ sort: JSON.parse('{"__proto__":1}') }, 'CriteriaError', 'sort_invalid', 'sort.__proto__'],
  [{ sort: { n: fn } }, 'CriteriaError', 'sort_invalid', 'sort.n'],
];

const ORDERED = ['limit', 'skip', 'sort', 'after'];
/** Those of them that methods take which change all matches. */
const MATCHES = OPTIONS.filter(
  ([options]) => !ORDERED.some((option) => Object.hasOwn(options as object, option)),
);

/** Options that choose paths: only for methods that deliver documents. */
const SELECTS: [unknown, string, string, string][] = [
  [{ select: 'n' }, 'CriteriaError', 'select_invalid', 'select'],
  [{ select: null }, 'CriteriaError', 'select_invalid', 'select'],
  [{ select: '' }, 'CriteriaError', 'select_invalid', 'select'],
  [{ select: ['n', 5] }, 'CriteriaError', 'select_invalid', 'select[1]'],
  [{ select: [DEEP] }, 'CriteriaError', 'select_invalid', 'select[0]'],
  [{ sort: { [DEEP]: 1 } }, 'CriteriaError', 'sort_invalid', `sort.${DEEP}`],
  [{ select: ['n', 'a..b'] }, 'CriteriaError', 'select_invalid', 'select[1]'],
  [{ select: ['__proto__'] }, 'CriteriaError', 'select_invalid', 'select[0]'],
  [{ select: cyclic }, 'CriteriaError', 'select_invalid', 'select[0]'],
  [{ select: ['n', 'home.$'] }, 'CriteriaError', 'select_invalid', 'select[1]'],
];

/** For methods that take ids, which have no options here. */
const OF_IDS: [unknown, string, string][] = [
  [{ select: ['n'] }, 'option_unknown', 'select'],
  [{ include: { partner: true } }, 'option_unknown', 'include'],
  ['n', 'option_invalid', 'options'],
  [['n'], 'option_invalid', 'options'],
  [new Map([['n', 1]]), 'option_invalid', 'options'],
];

/** The same for criteria alone. */
const CHOICES: [unknown, string, string, string][] = [
  [{ select: { n: 2 } }, 'CriteriaError', 'select_invalid', 'select.n'],
  [{ select: { n: 1, a: 0 } }, 'CriteriaError', 'select_invalid', 'select.a'],
];

const CRITERIA: [unknown, string, string][] = [
  [{ n: { $gtt: 1 } }, 'operator_unknown', 'n'],
  [{ $were: fn }, 'criteria_invalid', '$were'],
  [{ n: fn }, 'criteria_invalid', 'n'],
  [{ n: { $gt: fn } }, 'criteria_invalid', 'n.$gt'],
  [{ $or: [{ n: 1 }, fn] }, 'criteria_invalid', '$or[1]'],
  [{ tags: { $elemMatch: fn } }, 'criteria_invalid', 'tags.$elemMatch'],
  ['n', 'criteria_invalid', 'params'],
  [null, 'criteria_invalid', 'params'],
];

const INDEXES: [unknown, string, string][] = [
  ['email', 'option_invalid', 'indexes'],
  [{ fields: 'email' }, 'option_invalid', 'indexes'],
  [null, 'option_invalid', 'indexes'],
  [[''], 'option_invalid', 'indexes[0].fields'],
  [[{}], 'option_missing', 'indexes[0].fields'],
  [['n', { fields: [] }], 'option_invalid', 'indexes[1].fields'],
  [[{ fields: ['a', 'a'] }], 'option_invalid', 'indexes[0].fields'],
  [[{ fields: ['a', 5] }], 'option_invalid', 'indexes[0].fields'],
  [['a..b'], 'option_invalid', 'indexes[0].fields'],
  [['__proto__'], 'option_invalid', 'indexes[0].fields'],
  [['a.__proto__.b'], 'option_invalid', 'indexes[0].fields'],
  [['_id'], 'option_invalid', 'indexes[0].fields'],
  [[fn], 'option_invalid', 'indexes[0]'],
  [[null], 'option_invalid', 'indexes[0]'],
  [[5], 'option_invalid', 'indexes[0]'],
  [[{ fields: 'a', unique: 1 }], 'option_invalid', 'indexes[0].unique'],
  [[{ fields: 'a', multi: 'yes' }], 'option_invalid', 'indexes[0].multi'],
  [[{ fields: ['a', 'b'], multi: true }], 'option_conflict', 'indexes[0].multi'],
  [[{ field: 'a' }], 'option_unknown', 'field'],
  [['a', { fields: 'a' }], 'option_conflict', 'indexes[1]'],
];

const DELIVERS = ['find', 'filter', 'each'] as const;
const FINDS = [...DELIVERS, 'has', 'count', 'explain'] as const;

/** Bad input to queries and indexes: a typed error with its place, and no change. */
export function badOptionsSuite(fixture: ClientFixture): void {
  describe('bad options', () => {
    const one = async () => {
      const things = fixture.documents({ indexes: ['n'] });
      await things.insert({ _id: 'a', n: 1, home: { city: 'A' } });
      return things;
    };

    for (const params of [{ n: { $gte: 0 } }, fn]) {
      test(`of every finding method, with ${typeof params} params, are errors with their place`, async () => {
        const things = await one();
        type Method = (typeof FINDS)[number] | 'deleteMany';
        // A union of generic methods is no function.
        const calls = things as unknown as Record<Method, (...given: unknown[]) => unknown>;
        const errorOf = async (method: Method, options: unknown) => {
          const result = calls[method](params, options);
          const error = await rejection(
            result instanceof Promise ? result : (result as AsyncGenerator).next(),
          );
          const isTyped = error instanceof fixture.lib.CairnError;
          return { method, isTyped, name: error.name, code: error.code, place: error.place };
        };
        for (const [rows, methods] of [
          [OPTIONS, FINDS],
          [MATCHES, ['deleteMany']],
          [SELECTS, DELIVERS],
          [typeof params === 'object' ? CHOICES : [], DELIVERS],
        ] as const) {
          for (const [options, name, code, place] of rows) {
            const errors = await Promise.all(methods.map((method) => errorOf(method, options)));
            expect({ options, errors }).toEqual({
              options,
              errors: methods.map((method) => ({ method, isTyped: true, name, code, place })),
            });
          }
        }
        expect(await things.filter({})).toHaveLength(1);
      });
    }

    test('of get, getMany and liveDocument are errors with their place', async () => {
      const things = await one();
      for (const [options, code, place] of OF_IDS) {
        const live = things.liveDocument('a', options as never);
        for (const call of [
          things.get('a', options as never),
          things.getMany(['a'], options as never),
          ...(code === 'option_unknown' ? [live.ready] : []),
        ])
          expect([options, await rejection(call)]).toEqual([
            options,
            expect.objectContaining({ name: 'OptionError', code, place }),
          ]);
      }
      // `map` passes an index behind an id.
      const found = await Promise.all(['a', 'b'].map(things.get.bind(things) as never));
      expect(found).toEqual([expect.objectContaining({ n: 1 }), undefined]);
      expect(await things.get('a', { include: undefined } as never)).toMatchObject({ n: 1 });
    });

    test('an unknown operator, or a function in place of criteria, is refused', async () => {
      const things = await one();
      for (const [params, code, place] of CRITERIA) {
        for (const method of ['find', 'filter', 'has', 'count', 'deleteMany', 'explain'] as const) {
          const error = await rejection(things[method](params as never) as Promise<unknown>);
          expect([params, error.code]).toEqual([params, code]);
          expect(error.place).toContain(place);
          expect(error instanceof fixture.lib.CriteriaError).toBe(true);
        }
      }
      expect(await things.count()).toBe(1);
    });

    test('empty and contradictory indexes are refused by the constructor', async () => {
      const things = await one();
      for (const [indexes, code, place] of INDEXES) {
        const error = thrown(() => fixture.documents({ name: 'bad', indexes: indexes as never }));
        expect([indexes, error.code, error.place]).toEqual([indexes, code, place]);
        expect(error instanceof fixture.lib.OptionError).toBe(true);
      }
      const values = thrown(() => fixture.keyValues({ indexes: ['a'] } as never));
      expect(values).toMatchObject({ code: 'option_invalid', place: 'indexes' });
      expect(await things.count({ n: 1 })).toBe(1);
    });
  });
}
