export type Path = readonly (string | number)[];

/** Item tests with what they mean, written out by hand. */
export const itemTests: readonly { params: any; matches: (item: any) => boolean }[] = [
  { params: 1, matches: (item) => item === 1 || item === 1n },
  { params: { $gte: 1 }, matches: (item) => isNumeric(item) && item >= 1 },
  { params: { k: 2 }, matches: (item) => item?.k === 2 },
  { params: 'none', matches: (item) => item === 'none' },
];

/** A bigint is ordered among the numbers. */
const isNumeric = (item: unknown) => typeof item === 'number' || typeof item === 'bigint';

export type KeyValueCommand =
  | { readonly op: 'set' | 'push'; readonly key: Path; readonly value: unknown }
  | { readonly op: 'get' | 'has' | 'delete' | 'modify'; readonly key: Path }
  | { readonly op: 'increase' | 'decrease'; readonly key: Path; readonly amount: number }
  | {
      readonly op: 'hasItem' | 'find' | 'filter' | 'remove';
      readonly key: Path;
      readonly test: number;
      readonly asFunction: boolean;
    }
  | { readonly op: 'keys' | 'entries' | 'count' };

/** A function for `modify`: counts up, and leaves what is no number alone. */
export function nextValue(value: unknown): number | undefined {
  if (value === undefined) return 1;
  return typeof value === 'number' ? value + 1 : undefined;
}

const mismatch = { code: 'kind_mismatch' };

/** A key-value collection as a Map, done naively. */
export class KeyValueModel {
  values = new Map<string, unknown>();

  apply(command: KeyValueCommand): unknown {
    switch (command.op) {
      case 'set':
        return this.#write(command.key, () => structuredClone(command.value));
      case 'get':
        return structuredClone(this.#at(command.key));
      case 'has':
        return this.#exists(command.key);
      case 'delete':
        return this.#delete(command.key);
      case 'modify': {
        const value = this.#at(command.key);
        const next = nextValue(value);
        if (next === undefined) return structuredClone(value);
        return this.#write(command.key, () => next);
      }
      case 'push':
        return this.#write(command.key, (before = []) =>
          // Not spread: holes stay holes.
          Array.isArray(before) ? before.concat([structuredClone(command.value)]) : mismatch,
        );
      case 'increase':
      case 'decrease': {
        const amount = command.op === 'increase' ? command.amount : -command.amount;
        return this.#write(command.key, (before = 0) =>
          typeof before === 'number' ? before + amount : mismatch,
        );
      }
      case 'hasItem':
      case 'find':
      case 'filter':
      case 'remove':
        return this.#items(command.op, command.key, command.test);
      case 'keys':
        return [...this.values.keys()];
      case 'entries':
        return structuredClone([...this.values]);
      case 'count':
        return this.values.size;
    }
  }

  #items(op: 'hasItem' | 'find' | 'filter' | 'remove', key: Path, test: number): unknown {
    const { matches } = itemTests[test] as (typeof itemTests)[number];
    const value = this.#at(key);
    const array = value === undefined ? [] : value;
    if (!Array.isArray(array)) return mismatch;
    const found = structuredClone(array.filter((item) => matches(item)));
    if (op === 'hasItem') return found.length > 0;
    if (op === 'find') return found[0];
    if (op === 'filter') return found;
    const rest = array.filter((item) => !matches(item));
    // Holes are no items, and go along.
    return rest.length === array.length ? structuredClone(rest) : this.#write(key, () => rest);
  }

  #at(key: Path): unknown {
    const [record, ...path] = key;
    let value: any = this.values.get(String(record));
    for (const step of path)
      value = isContainer(value) && own(value, step) ? value[step] : undefined;
    return value;
  }

  #exists(key: Path): boolean {
    const [record, ...path] = key;
    if (path.length === 0) return this.values.has(String(record));
    const parent = this.#at(key.slice(0, -1));
    return isContainer(parent) && own(parent as object, path.at(-1));
  }

  #delete(key: Path): boolean {
    if (!this.#exists(key)) return false;
    if (key.length === 1) return this.values.delete(String(key[0]));
    const parent: any = this.#at(key.slice(0, -1));
    if (Array.isArray(parent)) parent.splice(Number(key.at(-1)), 1);
    else delete parent[key.at(-1) as string];
    return true;
  }

  /** Puts what `next` makes of the value before; nothing changes when the way is blocked. */
  #write(key: Path, next: (before: any) => unknown): unknown {
    for (let length = 1; length < key.length; length++) {
      const above = this.#at(key.slice(0, length));
      if (above !== undefined && !isContainer(above)) return mismatch;
      if (Array.isArray(above) && typeof key[length] === 'string') return { code: 'key_invalid' };
    }
    const value = next(this.#at(key));
    if (value === mismatch) return mismatch;
    const [record, ...path] = key as [string, ...Path];
    if (path.length === 0) this.values.set(String(record), value);
    else {
      let parent: any = this.values.get(record);
      if (parent === undefined) parent = typeof path[0] === 'number' ? [] : {};
      this.values.set(record, parent);
      path.forEach((step, at) => {
        if (Array.isArray(parent)) while (parent.length < Number(step)) parent.push(null);
        if (at === path.length - 1) parent[step] = value;
        else parent = parent[step] ??= typeof path[at + 1] === 'number' ? [] : {};
      });
    }
    return structuredClone(value);
  }
}

function isContainer(value: any): boolean {
  return Array.isArray(value) || (value !== null && value?.constructor === Object);
}

function own(value: object, step: unknown): boolean {
  if (Array.isArray(value) && typeof step === 'string') return false;
  return Object.hasOwn(value, step as string);
}
