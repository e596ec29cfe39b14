import type { StorageKey, StoreName } from '../../src/storage/drivers/driver.ts';
import type { Stored } from '../backup/stored.ts';
import { Random } from '../setup/random.ts';

/** Damage to one value, or an exchange of two, as a disk or a bug would leave it. */
export interface Mutation {
  readonly name: string;
  readonly stored: Stored;
}

/** The stores that the mutations are of. */
const MUTATED = ['collections', 'segments', 'bodies', 'snapshots'] as const;

type Fields = Record<string, unknown>;

/** All kinds of mutations, of each stored value. */
export function* mutationsOf(stored: Stored, seed: number): Generator<Mutation> {
  const random = new Random(seed);
  for (const store of MUTATED) {
    const entries = stored[store];
    for (const [at, [key, value]] of entries.entries()) {
      const name = `${store} ${JSON.stringify(key)}`;
      yield { name: `${name} deleted`, stored: without(stored, store, key) };
      for (const [change, changed] of changesOf(value, random))
        yield { name: `${name} ${change}`, stored: replaced(stored, store, key, changed) };
      const [other, otherValue] = entries[(at + 1) % entries.length] as (typeof entries)[number];
      if (other === key) continue;
      const first = replaced(stored, store, key, otherValue);
      yield {
        name: `${name} exchanged with ${JSON.stringify(other)}`,
        stored: replaced(first, store, other, value),
      };
    }
  }
}

function without(stored: Stored, store: StoreName, key: StorageKey): Stored {
  return { ...stored, [store]: stored[store].filter(([one]) => one !== key) };
}

function replaced(stored: Stored, store: StoreName, key: StorageKey, value: unknown): Stored {
  const entries = stored[store].map(([one, old]) => [one, one === key ? value : old] as const);
  return { ...stored, [store]: entries };
}

/** Changed copies of a value, with what was changed. */
function* changesOf(value: Fields, random: Random): Generator<[name: string, changed: Fields]> {
  for (const [name, field] of Object.entries(value)) {
    if (field === undefined) continue;
    const { [name]: _, ...rest } = value;
    yield [`without ${name}`, rest];
    for (const [change, changed] of changesIn(field, random))
      yield [`${name} ${change}`, { ...value, [name]: changed }];
  }
}

function* changesIn(field: unknown, random: Random): Generator<[name: string, changed: unknown]> {
  if (typeof field === 'string') {
    if (field.length > 0) yield ['with a flipped bit', flipped(field, random)];
    yield ['as a number', field.length];
  } else if (typeof field === 'number') {
    yield ['with a flipped bit', field ^ (1 << random.below(4))];
    yield ['as a string', String(field)];
  } else if (Array.isArray(field)) {
    yield* changesInList(field, random);
  } else if (ArrayBuffer.isView(field)) {
    yield* changesInBytes(field as Uint8Array, random);
  } else if (typeof field === 'object' && field !== null) {
    yield ['as null', null];
    for (const [change, changed] of changesOf(field as Fields, random)) yield [change, changed];
  }
}

function* changesInList(list: readonly unknown[], random: Random): Generator<[string, unknown]> {
  yield ['as an object', { ...list }];
  if (list.length === 0) return;
  yield ['without its last item', list.slice(0, -1)];
  const at = random.below(list.length);
  for (const [change, changed] of changesIn(list[at], random))
    yield [`at ${at} ${change}`, list.with(at, changed)];
  const other = list.findIndex((item) => JSON.stringify(item) !== JSON.stringify(list[at]));
  if (other >= 0)
    yield [`${at} and ${other} swapped`, list.with(at, list[other]).with(other, list[at])];
}

function* changesInBytes(view: Uint8Array, random: Random): Generator<[string, unknown]> {
  yield ['as a list', [...view]];
  if (view.length === 0) return;
  const copy = view.slice();
  const bytes = new Uint8Array(copy.buffer);
  const at = random.below(bytes.length);
  bytes[at] = (bytes[at] as number) ^ (1 << random.below(8));
  yield [`with a flipped bit at ${at}`, copy];
  yield ['without its last item', view.slice(0, -1)];
}

/** A text with a flipped bit in one character. */
function flipped(text: string, random: Random): string {
  const at = random.below(text.length);
  const code = text.charCodeAt(at) ^ (1 << random.below(7));
  return text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1);
}
