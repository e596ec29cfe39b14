import type { DatabaseClient, KeyValueCollectionOptions } from '../../src/index.ts';
import type { KeyValueCollection } from '../../src/page/collections/key-value-collection.ts';
import { itemTests, type KeyValueCommand, KeyValueModel, nextValue } from './key-value-model.ts';
import type { Subject } from './world.ts';

export type KeyValueState = ReadonlyMap<string, unknown>;

/** Keys and values, and a Map of them. */
export class KeyValueSubject
  implements Subject<KeyValueCollection, KeyValueCommand, KeyValueState>
{
  readonly #model = new KeyValueModel();

  open(
    client: DatabaseClient,
    caching: boolean,
    options: Partial<KeyValueCollectionOptions> = {},
  ): KeyValueCollection {
    return new client.Collection({ name: 'values', type: 'KEY_VALUE_BASED', caching, ...options });
  }

  get state(): KeyValueState {
    return structuredClone(this.#model.values);
  }

  set state(state: KeyValueState) {
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

  expected(state: KeyValueState): unknown {
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
    case 'modify':
      return collection.modify(command.key, nextValue);
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
