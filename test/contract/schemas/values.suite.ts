import { describe, expect, test } from 'vitest';
import type { ClientFixture } from '../client-fixture.ts';
import { rejection } from '../outcomes.ts';
import { libraries } from './libraries.ts';

/** The option `schema` of key-value collections: it describes the value of a record. */
export function schemaValuesSuite(fixture: ClientFixture): void {
  describe.each(libraries)('values and a schema of $title', ({ counts, person }) => {
    const values = () => fixture.keyValues({ schema: counts });
    const people = () => fixture.keyValues({ name: 'people', schema: person });
    const refused = async (call: Promise<unknown>, place: string) => {
      const error = await rejection(call);
      expect(error).toMatchObject({ code: 'schema_violation', place });
    };

    test('set checks the record, whole or a part of it', async () => {
      const collection = values();
      expect(await collection.set('a', { x: 1 })).toEqual({ x: 1 });
      await refused(collection.set('a', { x: -1 }), 'value.x');
      await refused(collection.set('a.x', -1), 'value.x');
      await refused(collection.set('b.x', 'much'), 'value.x');
      expect(await collection.entries()).toEqual([['a', { x: 1 }]]);
      expect(await collection.set('a.y', 2)).toBe(2);
      expect(await collection.get('a')).toEqual({ x: 1, y: 2 });
    });

    test('the output is stored', async () => {
      const collection = people();
      expect(await collection.set('eve', { name: 'Eve' })).toEqual({ name: 'Eve', age: 18 });
      expect(await collection.set('bob.name', 'Bob')).toBe('Bob');
      expect(await collection.get('bob')).toEqual({ name: 'Bob', age: 18 });
    });

    test('increase, decrease and delete', async () => {
      const collection = values();
      expect(await collection.increase('a.x', 2)).toBe(2);
      await refused(collection.decrease('a.x', 3), 'value.x');
      expect(await collection.decrease('a.x', 1)).toBe(1);
      expect(await collection.delete('a.nothing')).toBe(false);
      expect(await collection.delete('a.x')).toBe(true);
      expect(await collection.get('a')).toEqual({});
      expect(await collection.delete('a')).toBe(true);
      await people().set('eve', { name: 'Eve', age: 3 });
      await refused(people().delete('eve.name'), 'value.name');
      expect(await people().delete('eve.age')).toBe(true);
      expect(await people().get('eve.age')).toBe(18);
    });

    test('push and remove', async () => {
      const collection = people();
      await collection.set('eve', { name: 'Eve' });
      expect(await collection.push('eve.tags', 'a')).toEqual(['a']);
      await refused(collection.push('eve.tags', 5), 'value.tags[1]');
      await collection.push('eve.tags', 'b');
      expect(await collection.remove('eve.tags', 'none')).toEqual(['a', 'b']);
      expect(await collection.remove('eve.tags', { $in: ['a'] })).toEqual(['b']);
      expect(await collection.remove('eve.tags', (tag: unknown) => tag === 'b')).toEqual([]);
      expect(await collection.get('eve.tags')).toEqual([]);
    });

    test('modify', async () => {
      const collection = values();
      await collection.set('a', { x: 1 });
      await refused(
        collection.modify('a', () => ({ x: -1 })),
        'value.x',
      );
      await refused(
        collection.modify('a.x', () => -1),
        'value.x',
      );
      expect(await collection.modify<number>('a.x', (x = 0) => x + 1)).toBe(2);
      expect(await collection.get('a')).toEqual({ x: 2 });
    });

    test('changes made at the same time lose nothing', async () => {
      const collection = values();
      await Promise.all(Array.from({ length: 20 }, () => collection.increase('a.x', 1)));
      const all = [collection.increase('a.x', 1), collection.get('a.x')];
      expect(await Promise.all(all)).toEqual([21, 21]);
    });

    test('transactions', async () => {
      const collection = values();
      await fixture.db.transaction(async (tx) => {
        const inside = tx(collection);
        await inside.set('a.x', 1);
        await refused(inside.decrease('a.x', 2), 'value.x');
        await inside.increase('a.x', 2);
      });
      expect(await collection.get('a')).toEqual({ x: 3 });
    });

    test('importBackup', async () => {
      const source = fixture.keyValues();
      await source.set('a', { x: -1 });
      const file = await new Response(
        await source.exportBackup(await source.createBackup()),
      ).blob();
      await source.set('a', { x: 5 });
      await refused(values().importBackup(file), 'value.x');
      expect(await source.get('a')).toEqual({ x: 5 });
    });
  });
}
