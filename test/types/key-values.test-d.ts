import { describe, expectTypeOf, test } from 'vitest';
import { Database } from '../../src/index.ts';

interface Friend {
  name: string;
  age: number;
}

const db = new Database({ name: 'types' });
const anything = new db.Collection({ name: 'any', type: 'KEY_VALUE_BASED' });
const numbers = new db.Collection<number>({ name: 'numbers', type: 'KEY_VALUE_BASED' });

describe('key-values', () => {
  test('keys are strings, numbers and lists of them', () => {
    anything.get('a.b[0]');
    anything.get(7);
    anything.get(['a.b', 0]);
    const fixed = ['a', 1] as const;
    anything.get(fixed);
    // @ts-expect-error no key
    anything.get();
    // @ts-expect-error no key
    anything.get({ a: 1 });
    // @ts-expect-error no key
    anything.set([true], 1);
  });

  test('values have the requested type', () => {
    expectTypeOf(anything.get('a')).resolves.toEqualTypeOf<unknown>();
    expectTypeOf(anything.get<Friend>('a')).resolves.toEqualTypeOf<Friend | undefined>();
    expectTypeOf(anything.set('a', { n: 1 })).resolves.toEqualTypeOf<{ n: number }>();
    expectTypeOf(numbers.get('a')).resolves.toEqualTypeOf<number | undefined>();
    expectTypeOf(numbers.entries()).resolves.toEqualTypeOf<[string, number][]>();
    expectTypeOf(numbers.keys()).resolves.toEqualTypeOf<string[]>();
    expectTypeOf(numbers.count()).resolves.toEqualTypeOf<number>();
    expectTypeOf(numbers.delete('a')).resolves.toEqualTypeOf<boolean>();
    expectTypeOf(numbers.increase('a', 1)).resolves.toEqualTypeOf<number>();
    expectTypeOf(numbers.decrease('a', 1)).resolves.toEqualTypeOf<number>();
    // @ts-expect-error by a number
    numbers.increase('a', '1');
    // @ts-expect-error by a number
    numbers.decrease('a');
  });

  test('items are found by functions, criteria and values', () => {
    expectTypeOf(anything.push<Friend>('a', { name: 'Ada', age: 1 })).resolves.toEqualTypeOf<
      Friend[]
    >();
    expectTypeOf(anything.find<Friend>('a', ({ age }) => age > 1)).resolves.toEqualTypeOf<
      Friend | undefined
    >();
    expectTypeOf(anything.filter<Friend>('a', { age: { $gt: 1 } })).resolves.toEqualTypeOf<
      Friend[]
    >();
    expectTypeOf(anything.remove<string>('a', 'x')).resolves.toEqualTypeOf<string[]>();
    expectTypeOf(anything.has('a')).resolves.toEqualTypeOf<boolean>();
    expectTypeOf(anything.has<Friend>('a', { name: 'Ada' })).resolves.toEqualTypeOf<boolean>();
    // @ts-expect-error params are required
    anything.remove('a');
    // @ts-expect-error no such field
    anything.find<Friend>('a', { wage: 5 });
    // @ts-expect-error age is a number
    anything.filter<Friend>('a', { age: { $gt: 'old' } });
    // @ts-expect-error no such field
    anything.find<Friend>('a', ({ wage }) => wage > 5);
  });

  test('sync has the same methods without promises', () => {
    expectTypeOf(numbers.sync.get('a')).toEqualTypeOf<number | undefined>();
    expectTypeOf(numbers.sync.set('a', 1)).toEqualTypeOf<number>();
    expectTypeOf(numbers.sync.keys()).toEqualTypeOf<string[]>();
    expectTypeOf(numbers.sync.push<number>('a', 1)).toEqualTypeOf<number[]>();
    expectTypeOf(numbers.sync.has('a')).toEqualTypeOf<boolean>();
  });
});
