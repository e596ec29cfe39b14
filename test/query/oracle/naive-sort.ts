import { naiveOrder } from './naive-criteria.ts';

/** The fields of a sort, the most important first. */
export type NaiveSort = readonly (readonly [path: string, direction: 1 | -1])[];

/**
 * MongoDB's compound multikey order, written slow and plain: choose one item of every array on the
 * paths in every possible way, and keep the choice that sorts first. Shares no code with `src`.
 */
export function naiveSortKey(document: unknown, sort: NaiveSort): unknown[] {
  const [first, ...others] = choices(document, sort) as [unknown[], ...unknown[][]];
  return others.reduce(
    (best, other) => (compareNaiveKeys(other, best, sort) < 0 ? other : best),
    first,
  );
}

export function compareNaiveKeys(
  a: readonly unknown[],
  b: readonly unknown[],
  sort: NaiveSort,
): number {
  const orders = sort.map(([, direction], field) => naiveOrder(a[field], b[field]) * direction);
  return orders.find((order) => order !== 0) ?? 0;
}

type Choice = ReadonlyMap<readonly unknown[], unknown>;

/** Thrown where a path meets an array without a chosen item. */
class Unchosen extends Error {
  readonly array: readonly unknown[];

  constructor(array: readonly unknown[]) {
    super('no item chosen');
    this.array = array;
  }
}

function choices(document: unknown, sort: NaiveSort): unknown[][] {
  const keys: unknown[][] = [];
  const pending: Choice[] = [new Map()];
  for (let choice = pending.pop(); choice; choice = pending.pop()) {
    try {
      const chosen = choice;
      keys.push(sort.map(([path]) => valueBy(document, path.split('.'), chosen)));
    } catch (error) {
      if (!(error instanceof Unchosen)) throw error;
      for (const item of error.array) pending.push(new Map(choice).set(error.array, item));
    }
  }
  return keys;
}

function valueBy(value: unknown, [key, ...rest]: readonly string[], choice: Choice): unknown {
  if (Array.isArray(value)) {
    if (key !== undefined && String(Number(key)) === key && Number(key) in value) {
      const item: unknown = value[Number(key)];
      return rest.length === 0 ? (item ?? null) : valueBy(item, rest, choice);
    }
    if (value.length === 0) return key === undefined ? undefined : null;
    if (!choice.has(value)) throw new Unchosen(value);
    const item = choice.get(value);
    if (key === undefined) return item ?? null;
    return isObject(item) ? valueBy(item, [key, ...rest], choice) : null;
  }
  if (key === undefined) return value ?? null;
  return isObject(value) && Object.hasOwn(value, key) ? valueBy(value[key], rest, choice) : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return Object.prototype.toString.call(value) === '[object Object]';
}
