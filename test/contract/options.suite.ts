import { describe, expect, test } from 'vitest';
import type { DocumentCollectionOptions } from '../../src/index.ts';
import type { ClientFixture } from './client-fixture.ts';
import { thrown } from './outcomes.ts';

const NUMBERS = [Number.NaN, Number.POSITIVE_INFINITY, '1', null, true, {}, [], 1n];
const FLAGS = [0, 1, 'true', null, {}, []];
const STAMPS = ['created', 'edited', 'updated', 'archived', 'unarchived'].flatMap((stamp) => [
  `indicate_${stamp}_at`,
  `indicate_${stamp}_timestamp`,
]);

/** Valid and invalid values of each option. */
const OPTIONS: Record<string, { good: unknown[]; bad: unknown[] }> = {
  name: {
    good: ['a', 'x'.repeat(128), ' ', '__proto__', '/\\.*'],
    bad: ['', 'x'.repeat(129), 5, null, {}, ['a']],
  },
  type: {
    good: ['DOCUMENT_BASED'],
    bad: ['document_based', 'DOCUMENTS', '', null, 1, {}],
  },
  id_length: { good: [4, 32, 256], bad: [3, 257, 0, -1, 4.5, ...NUMBERS] },
  save_timeout: { good: [0, 0.5, 3600], bad: [-1, -0.1, 3600.1, ...NUMBERS] },
  save_directly_after: { good: [1, 5, 1e6], bad: [0, -1, 1.5, ...NUMBERS] },
  cache_retention_time: { good: [-1, 0.1, 10], bad: [0, -2, -0.5, ...NUMBERS] },
  backup_retention_time: { good: [-1, 0.1, 3], bad: [0, -2, -0.5, ...NUMBERS] },
};
for (const flag of [
  'caching',
  'auto_create_backup',
  'detailed_debugger_logs',
  'activate_drop_method',
  ...STAMPS,
]) {
  OPTIONS[flag] = { good: [true, false], bad: FLAGS };
}

/** Options of collections. */
export function optionsSuite(fixture: ClientFixture): void {
  describe('options', () => {
    const construct = (options: unknown) =>
      new fixture.db.Collection(options as DocumentCollectionOptions);

    for (const [option, { good, bad }] of Object.entries(OPTIONS)) {
      test(`${option} is checked by the constructor`, async () => {
        for (const value of bad) {
          const options = { name: 'a', type: 'DOCUMENT_BASED', [option]: value };
          const error = thrown(() => construct(options));
          expect(error instanceof fixture.lib.OptionError).toBe(true);
          expect(error).toMatchObject({ code: 'option_invalid', place: option });
          expect(error.message.includes(option)).toBe(true);
        }
        for (const value of good) {
          // One of the options prints to the console.
          if (option === 'detailed_debugger_logs' && value === true) continue;
          const collection = construct({
            name: fixture.nameOf('a'),
            type: 'DOCUMENT_BASED',
            [option]: value,
          });
          await collection.ready;
          expect(await collection.count()).toBe(0);
        }
      });
    }

    test('an error has the given and the allowed values', () => {
      const says = (options: object, ...parts: string[]) => {
        const { message } = thrown(() =>
          construct({ name: 'a', type: 'DOCUMENT_BASED', ...options }),
        );
        for (const part of parts)
          expect([message, message.includes(part)]).toEqual([message, true]);
      };
      says({ id_length: 300 }, 'id_length', '300', '4', '256');
      says({ save_timeout: -5 }, 'save_timeout', '-5', '0', '3600');
      says({ caching: 'yes' }, 'caching', 'yes', 'true', 'false');
      says({ type: 'DOCS' }, 'type', 'DOCS', 'DOCUMENT_BASED', 'KEY_VALUE_BASED');
      says({ cache_retention_time: 0 }, 'cache_retention_time', '0', '-1');
      says({ name: '' }, 'name', '128');
    });

    test('name and type are required', () => {
      for (const [options, place] of [
        [{ type: 'DOCUMENT_BASED' }, 'name'],
        [{ name: undefined, type: 'DOCUMENT_BASED' }, 'name'],
        [{ name: 'a' }, 'type'],
      ] as const) {
        const error = thrown(() => construct(options));
        expect(error instanceof fixture.lib.OptionError).toBe(true);
        expect(error).toMatchObject({ code: 'option_missing', place });
      }
    });

    test('options have to be an object', () => {
      for (const options of [undefined, null, 'a', 5, [], () => 1]) {
        const error = thrown(() => construct(options));
        expect(error instanceof fixture.lib.OptionError).toBe(true);
        expect(error.code).toBe('option_invalid');
      }
    });

    test('an unknown option is refused, with the nearest known one in the message', () => {
      for (const [option, meant] of [
        ['cacheing', 'caching'],
        ['id_lenght', 'id_length'],
        ['saveTimeout', 'save_timeout'],
        ['indicate_create_at', 'indicate_created_at'],
        ['Name', 'name'],
      ] as const) {
        const error = thrown(() => construct({ name: 'a', type: 'DOCUMENT_BASED', [option]: 1 }));
        expect(error instanceof fixture.lib.OptionError).toBe(true);
        expect(error).toMatchObject({ code: 'option_unknown', place: option });
        expect(error.message.includes(`"${option}"`)).toBe(true);
        expect(error.message.includes(`"${meant}"`)).toBe(true);
      }
    });

    test('an option unlike any other is refused, with all options in the message', () => {
      const error = thrown(() => construct({ name: 'a', type: 'DOCUMENT_BASED', primaryKey: 1 }));
      expect(error).toMatchObject({ code: 'option_unknown', place: 'primaryKey' });
      expect(error.message.includes('did you mean')).toBe(false);
      for (const option of Object.keys(OPTIONS)) expect(error.message.includes(option)).toBe(true);
    });

    test('undefined is the same as left out', async () => {
      const options = Object.fromEntries(Object.keys(OPTIONS).map((option) => [option, undefined]));
      const things = construct({ ...options, name: fixture.nameOf('a'), type: 'DOCUMENT_BASED' });
      expect((await things.insert({}))._id.length).toBe(32);
    });

    test('two spellings of one option cannot contradict each other', () => {
      for (const form of ['at', 'timestamp']) {
        for (const edited of [true, false]) {
          const spellings = {
            [`indicate_edited_${form}`]: edited,
            [`indicate_updated_${form}`]: !edited,
          };
          const error = thrown(() =>
            construct({ name: 'a', type: 'DOCUMENT_BASED', ...spellings }),
          );
          expect(error instanceof fixture.lib.OptionError).toBe(true);
          expect(error.code).toBe('option_conflict');
          for (const spelling of Object.keys(spellings)) {
            expect(error.message.includes(spelling)).toBe(true);
          }
        }
      }
    });

    test('changing the options object later has no effect', async () => {
      const name = fixture.nameOf('a');
      const options = { name, type: 'DOCUMENT_BASED' as const, id_length: 5 };
      const things = new fixture.db.Collection(options);
      options.id_length = 9;
      options.name = 'b';
      expect(things.name).toBe(name);
      expect((await things.insert({}))._id.length).toBe(5);
    });

    test('a collection knows its name and type', () => {
      const documents = fixture.documents({ name: 'd' });
      expect([documents.name, documents.type]).toEqual([fixture.nameOf('d'), 'DOCUMENT_BASED']);
      const values = fixture.keyValues({ name: 'v' });
      expect([values.name, values.type]).toEqual([fixture.nameOf('v'), 'KEY_VALUE_BASED']);
    });

    test('a bad option creates nothing, and the client stays usable', async () => {
      const name = fixture.nameOf('a');
      thrown(() => construct({ name, type: 'KEY_VALUE_BASED', caching: 5 }));
      const things = construct({ name, type: 'DOCUMENT_BASED' });
      expect(await things.count()).toBe(0);
    });
  });

  describe('options of a client', () => {
    test('are checked by the constructors of both clients', () => {
      const { Database, connect, OptionError } = fixture.lib;
      for (const make of [
        (options: never) => new Database(options),
        (options: never) => connect(options),
      ]) {
        for (const [options, code, place] of [
          [{}, 'option_missing', 'name'],
          [{ name: '' }, 'option_invalid', 'name'],
          [{ name: 'x'.repeat(129) }, 'option_invalid', 'name'],
          [{ name: 5 }, 'option_invalid', 'name'],
          [{ name: 'a', storage: 'disk' }, 'option_invalid', 'storage'],
          [{ name: 'a', storage: {} }, 'option_invalid', 'storage'],
          [{ name: 'a', storage: null }, 'option_invalid', 'storage'],
          [{ name: 'a', durability: 'safe' }, 'option_invalid', 'durability'],
          [{ name: 'a', durability: true }, 'option_invalid', 'durability'],
          [{ name: 'a', storeage: 'memory' }, 'option_unknown', 'storeage'],
        ] as const) {
          const error = thrown(() => make(options as never));
          expect(error instanceof OptionError).toBe(true);
          expect(error).toMatchObject({ code, place });
        }
        for (const options of [undefined, null, 'a', []]) {
          expect(thrown(() => make(options as never)) instanceof OptionError).toBe(true);
        }
      }
    });

    test('a message does not say that an option is what it must be', () => {
      const { connect } = fixture.lib;
      const messageOf = (options: object) =>
        thrown(() => connect({ name: 'a', ...options } as never)).message;
      const parts =
        "'aggregation' or 'backups' or 'expressions' or 'relations' or 'replication' or 'search' or 'transactions' or 'updates' or 'upkeep' or 'vectors'";
      expect(messageOf({ parts: ['backup'] })).toBe(
        `"parts" must be an array of ${parts}, not this array.`,
      );
      const driver = { kind: 'mine', open: async () => undefined };
      expect(messageOf({ storage: driver })).toMatch(/drivers: Database\), not this object\.$/);
    });

    test('worker of connect() is a Worker or a function that returns one', () => {
      for (const worker of ['worker.js', 5, {}, true]) {
        const error = thrown(() => fixture.lib.connect({ name: 'a', worker: worker as never }));
        expect(error).toMatchObject({ code: 'option_invalid', place: 'worker' });
      }
      const options = { name: 'a', worker: () => undefined };
      const error = thrown(() => new fixture.lib.Database(options as never));
      expect(error).toMatchObject({ code: 'option_unknown', place: 'worker' });
    });

    test('a driver cannot be passed to a worker', () => {
      const storage = fixture.lib.memoryDriver();
      const error = thrown(() => fixture.lib.connect({ name: 'a', storage: storage as never }));
      expect(error).toMatchObject({ code: 'option_invalid', place: 'storage' });
    });

    test('durability: strict stores the same as relaxed', async () => {
      const name = `strict ${Math.random()}`;
      const db = new fixture.lib.Database({ name, storage: 'memory', durability: 'strict' });
      const things = new db.Collection({ name: 'a', type: 'DOCUMENT_BASED' });
      await things.insert({});
      await things.save();
      expect(db.status.unsaved).toBe(0);
      await db.close();
    });
  });
}
