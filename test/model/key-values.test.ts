import fc from 'fast-check';
import { test } from 'vitest';
import type { KeyValueCollection } from '../../src/collection/key-value-collection.ts';
import type { Door } from '../../src/index.ts';
import { itemTests, type KeyValueCommand, KeyValueModel, type Path } from './key-value-model.ts';
import { padding, runSteps, type Subject, steps } from './world.ts';

type State = ReadonlyMap<string, unknown>;

class KeyValueSubject implements Subject<KeyValueCollection, KeyValueCommand, State> {
  readonly #model = new KeyValueModel();

  open(door: Door, caching: boolean): KeyValueCollection {
    return new door.Collection({ name: 'values', type: 'KEY_VALUE_BASED', caching });
  }

  get state(): State {
    return structuredClone(this.#model.values);
  }

  set state(state: State) {
    this.#model.values = new Map(structuredClone(state));
  }

  bind(command: KeyValueCommand): KeyValueCommand {
    return command;
  }

  model(command: KeyValueCommand): unknown {
    return this.#model.apply(command);
  }

  real(collection: KeyValueCollection, command: KeyValueCommand): unknown {
    return call(collection, command);
  }

  sync(collection: KeyValueCollection, command: KeyValueCommand): unknown {
    return call(collection.sync, command);
  }

  contents(collection: KeyValueCollection): Promise<unknown> {
    return collection.entries();
  }

  expected(state: State): unknown {
    return [...state];
  }
}

function call(
  collection: KeyValueCollection | KeyValueCollection['sync'],
  command: KeyValueCommand,
): unknown {
  switch (command.op) {
    case 'set':
    case 'push':
      return collection[command.op](command.key, command.value);
    case 'get':
    case 'has':
    case 'delete':
      return collection[command.op](command.key);
    case 'increase':
    case 'decrease':
      return collection[command.op](command.key, command.amount);
    case 'hasItem':
      return collection.has(command.key, paramsOf(command));
    case 'find':
    case 'filter':
    case 'remove':
      return collection[command.op](command.key, paramsOf(command));
    default:
      return collection[command.op]();
  }
}

function paramsOf({ test: at, asFunction }: { test: number; asFunction: boolean }): any {
  const { params, matches } = itemTests[at] as (typeof itemTests)[number];
  return asFunction ? matches : params;
}

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

const command: fc.Arbitrary<KeyValueCommand> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ op: fc.constantFrom('set' as const, 'push'), key, value }) },
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constantFrom('get' as const, 'has', 'delete'), key }),
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

test.each([true, false])(
  'keys and values behave as a Map does, caching %s at first',
  async (caching) => {
    await fc.assert(
      fc.asyncProperty(steps(command), (script) =>
        runSteps(new KeyValueSubject(), script, caching),
      ),
      { numRuns: Number(process.env.MODEL_RUNS ?? 120) },
    );
  },
);
