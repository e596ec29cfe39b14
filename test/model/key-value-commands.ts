import fc from 'fast-check';
import { itemTests, type KeyValueCommand, type Path } from './key-value-model.ts';
import { padding } from './world.ts';

const key: fc.Arbitrary<Path> = fc
  .tuple(
    fc.constantFrom('a', 'b', 'c', 'd'),
    fc.array(fc.constantFrom<string | number>('x', 'y', 0, 1, 3), { maxLength: 3 }),
  )
  .map(([record, path]) => [record, ...path]);

const value = fc.oneof(
  fc.constantFrom<unknown>(0, 1, 5, 'text', null, undefined, true, Number.NaN, -0, 7n),
  fc.constantFrom<unknown>({ k: 2 }, { x: { y: 1 } }, [], [1, 2, 1], [[1]], { x: [{ k: 2 }, 1] }),
  fc.constantFrom<unknown>(new Date(1), new Map([[1, 2]]), new Set(['s']), { y: new Date(2) }),
  padding,
);

/** One call. */
export const keyValueCommand: fc.Arbitrary<KeyValueCommand> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ op: fc.constantFrom('set' as const, 'push'), key, value }) },
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constantFrom('get' as const, 'has', 'delete', 'modify'), key }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constantFrom('increase' as const, 'decrease'),
      key,
      amount: fc.constantFrom(1, 0, -2.5, Number.POSITIVE_INFINITY),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constantFrom('hasItem' as const, 'find', 'filter', 'remove'),
      key,
      test: fc.nat(itemTests.length - 1),
      asFunction: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constantFrom('keys' as const, 'entries', 'count') }),
  },
);
