import { describe, expect, test } from 'vitest';
import type { CairnError } from '../../src/index.ts';
import type { ClientFixture } from './client-fixture.ts';
import { rejection, thrown } from './outcomes.ts';

/** One base class, one class for each family, stable codes; the same on both sides of a worker. */
export function errorsSuite(fixture: ClientFixture): void {
  describe('errors', () => {
    const provoke = async (): Promise<[CairnError, string, string][]> => {
      const things = fixture.documents();
      const values = fixture.keyValues();
      await things.insert({ _id: 'a' });
      await values.set('text', 'a');
      return [
        [thrown(() => fixture.documents({ id_length: 1 })), 'OptionError', 'option_invalid'],
        [await rejection(things.insert({ f: () => 1 })), 'ValueError', 'value_unsupported'],
        [await rejection(things.insert({ _id: 'a' })), 'ValueError', 'id_taken'],
        [await rejection(things.find({ n: { $no: 1 } })), 'CriteriaError', 'operator_unknown'],
        [await rejection(values.push('text', 1)), 'KeyError', 'kind_mismatch'],
        [await rejection(values.get('')), 'KeyError', 'key_invalid'],
        [await rejection(things.Drop()), 'CollectionError', 'drop_disabled'],
      ];
    };

    test('have a class, a code and a message', async () => {
      const { lib } = fixture;
      for (const [error, name, code] of await provoke()) {
        expect([error.name, error.code]).toEqual([name, code]);
        expect(error instanceof lib[name as 'ValueError']).toBe(true);
        expect(error instanceof lib.CairnError).toBe(true);
        expect(error instanceof Error).toBe(true);
        expect(error.message.length > 10).toBe(true);
        expect(typeof error.stack).toBe('string');
        expect(String(error)).toBe(`${name}: ${error.message}`);
      }
    });

    test('belong to one family each', async () => {
      const families = [
        'OptionError',
        'ValueError',
        'CriteriaError',
        'KeyError',
        'CollectionError',
      ];
      for (const [error, name] of await provoke()) {
        const classes = families.filter(
          (family) => error instanceof fixture.lib[family as 'ValueError'],
        );
        expect(classes).toEqual([name]);
      }
    });

    test('keep their cause, also across a worker', async () => {
      const { cause } = await rejection(fixture.documents().find({ name: { $regex: '(' } }));
      expect(cause instanceof Error).toBe(true);
      expect((cause as Error).name).toBe('SyntaxError');
    });

    test('of one call do not affect others of the same batch', async () => {
      const things = fixture.documents<{ n: number }>();
      const results = await Promise.allSettled([
        things.insert({ _id: 'a', n: 1 }),
        things.insert({ _id: 'a', n: 2 }),
        things.insert({ _id: 'b', n: 3 }),
        things.find({ n: { $no: 1 } } as never),
        things.count(),
      ]);
      expect(results.map(({ status }) => status)).toEqual([
        'fulfilled',
        'rejected',
        'fulfilled',
        'rejected',
        'fulfilled',
      ]);
      expect(await things.count()).toBe(2);
    });

    test('can be constructed and extended by drivers and callers', () => {
      const { StorageError, CairnError } = fixture.lib;
      const cause = new Error('underneath');
      const error = new StorageError('storage_full', 'The disk is full.', { cause, place: 'a' });
      expect(error).toMatchObject({ code: 'storage_full', place: 'a', name: 'StorageError' });
      expect(error.cause).toBe(cause);
      expect(error instanceof CairnError).toBe(true);
    });
  });
}
