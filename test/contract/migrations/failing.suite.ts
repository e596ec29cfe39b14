import { describe, expect, test } from 'vitest';
import type { AnyDocument, MigrationError } from '../../../src/index.ts';
import type { ClientFixture } from '../client-fixture.ts';
import { EventLog, rejection, thrown } from '../outcomes.ts';
import { schemaOf } from '../schemas/libraries.ts';

const cyclic: AnyDocument = {};
cyclic.self = cyclic;

const { proxy: revoked, revoke } = Proxy.revocable({}, {});
revoke();

/** Steps that fail, with part of the reason. */
const STEPS: readonly (readonly [string, (document: AnyDocument) => unknown, RegExp])[] = [
  ['throws', () => JSON.parse('{'), /JSON/],
  [
    'throws what is no error',
    () => {
      throw 'odd';
    },
    /odd/,
  ],
  [
    'throws what has no text',
    () => {
      throw Object.create(null);
    },
    /something that has no text/,
  ],
  ['returns what cannot be read', () => revoked, /revoked/],
  ['returns a promise', async (document) => document, /promise/],
  ['returns a promise that rejects', () => Promise.reject(new Error('late')), /promise/],
  ['has a promise in the document', () => ({ later: Promise.resolve(1) }), /result\.later/],
  ['returns a cycle', () => cyclic, /result\.self/],
  ['returns a class instance', () => new (class User {})(), /plain object/],
  [
    'has a class instance in the document',
    () => ({ at: { url: new URL('a:b') } }),
    /result\.at\.url/,
  ],
  ['has a function in the document', () => ({ run: () => 1 }), /result\.run/],
  ['returns null', () => null, /plain object/],
  ['returns an array', () => [1], /plain object/],
  ['returns a text', () => 'text', /plain object/],
  ['returns __proto__', () => JSON.parse('{"__proto__": 1}'), /__proto__/],
  ['changes _id', (document) => ({ ...document, _id: 'other' }), /_id/],
  ['removes _id by another type', (document) => ({ ...document, _id: 5 }), /_id/],
  [
    'forgets to return',
    (document) => {
      document.n = 2;
    },
    /returned nothing/,
  ],
];

/** `version` and `migrate`: what cannot be migrated, and bad options. */
export function failingMigrationsSuite(fixture: ClientFixture): void {
  const { lib } = fixture;

  describe('migrations that fail', () => {
    test.each(STEPS)('a step that %s changes nothing', async (_, step, why) => {
      const old = fixture.documents();
      await old.insertMany(Array.from({ length: 600 }, (_, n) => ({ _id: `d${n}`, n })));
      const before = await old.filter({});
      const migrate = {
        2: (document: AnyDocument) => ({ ...document, two: true }),
        3: (document: AnyDocument) => (document._id === 'd500' ? step(document) : document),
      };
      const things = fixture.documents({ version: 3, migrate: migrate as never });
      const calls = [things.insert({ n: 1 }), things.count(), things.ready, things.listBackups()];
      for (const call of [...calls, things.count()]) {
        const error = (await rejection(call)) as MigrationError;
        expect(error).toBeInstanceOf(lib.MigrationError);
        expect(error).toMatchObject({ code: 'migration_failed', version: 3, place: 'd500' });
        expect(error.message).toMatch(why);
      }
      expect(await old.filter({})).toEqual(before);
      await old.insert({ _id: 'later' });
      expect(await old.listBackups()).toEqual([]);
      await old.save();
      if (fixture.kind.storage !== 'memory') await fixture.reopen();
      const again = fixture.documents();
      expect(await again.filter({ n: { $exists: true } })).toEqual(before);
      expect(await again.verify()).toMatchObject({ whole: true, problems: [] });
    });

    test('the cause is what the step threw', async () => {
      await fixture.documents().insert({ _id: 'a' });
      const cause = new Error('mine');
      const fails = () => {
        throw cause;
      };
      const error = await rejection(fixture.documents({ version: 2, migrate: { 2: fails } }).ready);
      expect(error.cause).toBe(cause);
    });

    test('a document that the schema refuses', async () => {
      await fixture.documents().insert({ _id: 'a' });
      const schema = schemaOf(() => ({ issues: [{ message: 'no', path: ['n'] }] }));
      const migrate = { 2: (document: object) => document };
      const error = await rejection(fixture.documents({ version: 2, migrate, schema }).ready);
      expect(error).toMatchObject({ code: 'migration_failed', place: 'a', version: 2 });
      expect(error.cause).toMatchObject({ code: 'schema_violation', issues: [{ path: ['n'] }] });
      for (const said of [/Nothing was/g, /"a"/g])
        expect(error.message.match(said)).toHaveLength(1);
    });

    test('a document whose time of expire_after is no Date', async () => {
      const old = fixture.documents();
      await old.insert({ _id: 'a', at: Date.now() });
      const expire_after = 'at';
      const forgets = fixture.documents({ version: 2, expire_after, migrate: { 2: (it) => it } });
      const error = await rejection(forgets.ready);
      expect(error).toMatchObject({ code: 'migration_failed', version: 2, place: 'a' });
      expect(error.cause).toMatchObject({ code: 'expiry_not_a_date', place: 'result.at' });
      expect(await old.count()).toBe(1);
      const converts = fixture.documents<{ at: Date | number }>({
        ...{ version: 2, expire_after },
        migrate: { 2: ({ at, ...rest }: { at: number }) => ({ ...rest, at: new Date(at + 9e9) }) },
      });
      expect((await converts.get('a'))?.at).toBeInstanceOf(Date);
    });

    test('documents that violate a unique index', async () => {
      const old = fixture.documents();
      await old.insertMany([{ n: 1 }, { n: 2 }]);
      const things = fixture.documents({
        indexes: [{ fields: 'n', unique: true }],
        version: 2,
        migrate: { 2: () => ({ n: 0 }) },
      });
      const error = await rejection(things.count());
      expect(error).toMatchObject({ code: 'migration_failed', version: 2 });
      expect(error.cause).toMatchObject({ code: 'unique_violation' });
      expect((await old.filter({})).map(({ n }) => n)).toEqual([1, 2]);
    });

    test('another handle with steps that work migrates; one that has failed stays so', async () => {
      const old = fixture.documents();
      await old.insert({ _id: 'a', n: 1 });
      const log = new EventLog(fixture.db, 'migration');
      const bad = fixture.documents({ version: 2, migrate: { 2: () => null as never } });
      expect((await rejection(bad.count())).code).toBe('migration_failed');
      const good = fixture.documents({ version: 2, migrate: { 2: () => ({ n: 2 }) } });
      expect(await good.get('a')).toMatchObject({ n: 2 });
      expect((await rejection(bad.count())).code).toBe('migration_failed');
      expect(log.events.filter(({ backup }) => backup)).toHaveLength(1);
    });

    test('a step that is missing for the stored version', async () => {
      const old = fixture.documents();
      await old.insert({ _id: 'a', n: 1 });
      for (const migrate of [undefined, {}, { 3: (document: object) => document }]) {
        const error = await rejection(fixture.documents({ version: 3, migrate }).get('a'));
        expect(error).toBeInstanceOf(lib.OptionError);
        expect(error).toMatchObject({ code: 'migration_gap', place: 'migrate' });
        expect(error.message).toMatch(/version 1, .*version 2/);
      }
      expect(await old.get('a')).toMatchObject({ n: 1 });
    });
  });

  describe('the options version and migrate', () => {
    const step = (document: object) => document;
    const given = (options: object) => () => fixture.documents(options as never);

    test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '2', null, true, {}, [], 2n])(
      'version %o is refused',
      (version) => {
        const error = thrown(given({ version }));
        expect(error).toBeInstanceOf(lib.OptionError);
        expect(error).toMatchObject({ code: 'option_invalid', place: 'version' });
      },
    );

    test.each([null, 5, 'steps', step, [step], new Map([[2, step]]), { 2: 'step' }, { 2: null }])(
      'migrate %o is refused',
      (migrate) => {
        const error = thrown(given({ version: 2, migrate }));
        expect(error).toBeInstanceOf(lib.OptionError);
        expect(error).toMatchObject({ code: 'option_invalid', place: 'migrate' });
      },
    );

    test.each([
      ['a step above the version', { version: 2, migrate: { 2: step, 3: step } }],
      ['steps without a version', { migrate: { 2: step } }],
      ['a gap', { version: 4, migrate: { 2: step, 4: step } }],
      ['no step to the version itself', { version: 3, migrate: { 2: step } }],
      ['a step to version 1', { version: 2, migrate: { 1: step, 2: step } }],
      ['a step to version 0', { version: 2, migrate: { 0: step, 2: step } }],
      ['a broken number', { version: 2, migrate: { 1.5: step, 2: step } }],
      ['a name', { version: 2, migrate: { 2: step, two: step } }],
      ['a number written otherwise', { version: 2, migrate: { '02': step } }],
    ])('%s is migration_gap', (_, options) => {
      const error = thrown(given(options));
      expect(error).toBeInstanceOf(lib.OptionError);
      expect(error).toMatchObject({ code: 'migration_gap', place: 'migrate' });
    });

    test.each([
      { version: 1 },
      { version: 1, migrate: {} },
      { version: 2, migrate: { 2: step } },
      { version: 9, migrate: { 8: step, 9: step } },
      { version: 9 },
      { version: undefined, migrate: undefined },
    ])('%o is accepted', async (options) => {
      const things = fixture.documents(options as never);
      await things.insert({ _id: 'a' });
      expect(await things.count()).toBe(1);
    });
  });
}
