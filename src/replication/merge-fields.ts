import { isPlainObject } from '../codec/kinds.ts';
import { sameValue } from '../codec/same-value.ts';
import { refOf } from './protocol/files.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What three states were merged into. */
interface Merged {
  readonly result: object | undefined;
  /** Paths that both sides had changed to different values; the remote one won. */
  readonly lost: readonly string[];
}

/** Managed fields: the later one wins, and that loses nothing. */
const STAMPED = /^_(created|updated|archived|unarchived)_at$/;

/** No field of that name, no item. */
const ABSENT = Symbol('absent');

/**
 * How arrays at paths merge: items that are objects, each named by a field. Inside of items, paths
 * go on without a position: `steps.parts`.
 */
export type MergeRules = Readonly<Record<string, { readonly by: string }>>;

/**
 * Merges a document by fields. Fields that one side has changed are taken from it. Where both have
 * changed the same field to different values, the remote one wins. Objects are merged inside, and
 * arrays that a rule names; other values are taken as a whole, and what stands for a file. A
 * document that one side has deleted and the other changed stays, as it was changed.
 *
 * @param base The state that both derive from; `undefined` where none is known.
 */
export function mergeChangedFields(
  base: object | undefined,
  local: object | undefined,
  remote: object | undefined,
  rules: MergeRules = {},
): Merged {
  if (sameContent(local, remote)) return { result: remote, lost: [] };
  if (!local) return { result: base && sameContent(base, remote) ? undefined : remote, lost: [] };
  if (!remote) return { result: base && sameContent(base, local) ? undefined : local, lost: [] };
  const merge = new FieldMerge(rules);
  const result = merge.objects(base as Fields, local as Fields, remote as Fields, '');
  return { result, lost: merge.lost };
}

/** One merge, with what it has lost. Where `base` is `undefined`, no common state is known. */
class FieldMerge {
  readonly lost: string[] = [];
  readonly #rules: MergeRules;

  constructor(rules: MergeRules) {
    this.#rules = rules;
  }

  objects(base: Fields | undefined, local: Fields, remote: Fields, path: string): object {
    const merged: [string, unknown][] = [];
    for (const key of new Set([...Object.keys(remote), ...Object.keys(local)])) {
      const [l, r, b] = [own(local, key), own(remote, key), base && own(base, key)];
      const value = this.#value(b, l, r, path + key);
      if (value !== ABSENT) merged.push([key, value]);
    }
    // Not by assignment: `__proto__` is a name like others here.
    return Object.fromEntries(merged);
  }

  /** @param isItem Whether what one side has removed and the other changed stays. */
  #value(base: unknown, local: unknown, remote: unknown, place: string, isItem = false): unknown {
    const unchanged = oneSided(base, local, remote);
    if (unchanged) return unchanged.value;
    if (isPlainObject(local) && isPlainObject(remote) && !refOf(local) && !refOf(remote)) {
      const from = isPlainObject(base) ? (base as Fields) : undefined;
      return this.objects(from, local as Fields, remote as Fields, `${place}.`);
    }
    if (STAMPED.test(place) && local instanceof Date && remote instanceof Date)
      return local > remote ? local : remote;
    const { by } = own(this.#rules, place) as Partial<MergeRules[string]>;
    const items = by !== undefined && this.#items(base, local, remote, place, by);
    if (items) return items;
    this.lost.push(place);
    return isItem && remote === ABSENT ? local : remote;
  }

  /** Merges arrays by the names of their items; `undefined` where some have none. */
  #items(
    base: unknown,
    local: unknown,
    remote: unknown,
    place: string,
    by: string,
  ): readonly unknown[] | undefined {
    const [l, r] = [itemsOf(local, by), itemsOf(remote, by)];
    if (!l || !r) return undefined;
    // Where there was no such array, both have made one.
    const b = base === undefined ? undefined : (itemsOf(base, by) ?? new Map<unknown, Fields>());
    const merged: unknown[] = [];
    for (const name of this.#order(b, l, r, place)) {
      const before = b && (b.get(name) ?? ABSENT);
      const item = this.#value(before, l.get(name) ?? ABSENT, r.get(name) ?? ABSENT, place, true);
      if (item !== ABSENT) merged.push(item);
    }
    return merged;
  }

  /** All names: in the order of the side that has moved items, of the remote one if both have. */
  #order(base: Items | undefined, local: Items, remote: Items, place: string): Set<unknown> {
    const common = (items: Items) =>
      [...items.keys()].filter((name) => base?.has(name) && local.has(name) && remote.has(name));
    const [b, l, r] = [common(base ?? remote), common(local), common(remote)];
    const [isMoved, isMovedThere] = [!sameNames(b, l), !sameNames(b, r)];
    if (isMoved && isMovedThere && !sameNames(l, r)) this.lost.push(place);
    const [first, second] = isMoved && !isMovedThere ? [local, remote] : [remote, local];
    return new Set([...first.keys(), ...second.keys()]);
  }
}

type Items = ReadonlyMap<unknown, Fields>;
type Names = readonly unknown[];

/** The value where only one side has changed it, or both alike. */
function oneSided(base: unknown, local: unknown, remote: unknown): { value: unknown } | undefined {
  if (sameContent(local, remote)) return { value: remote };
  if (base === undefined) {
    // Each may have added what the other lacks.
    if (local === ABSENT) return { value: remote };
    return remote === ABSENT ? { value: local } : undefined;
  }
  if (sameContent(local, base)) return { value: remote };
  return sameContent(remote, base) ? { value: local } : undefined;
}

function own(fields: Fields, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : ABSENT;
}

/** The items of an array by name, in its order; `undefined` unless each has one of its own. */
function itemsOf(list: unknown, by: string): Items | undefined {
  if (!Array.isArray(list)) return undefined;
  const items = new Map<unknown, Fields>();
  for (const item of list) {
    const name = isPlainObject(item) ? own(item as Fields, by) : undefined;
    if (typeof name !== 'string' && typeof name !== 'number') return undefined;
    items.set(name, item as Fields);
  }
  return items.size === list.length ? items : undefined;
}

function sameNames(a: Names, b: Names): boolean {
  return a.length === b.length && a.every((name, at) => name === b[at]);
}

/** Whether two values are deeply equal, in any order of keys: servers do not keep it. */
export function sameContent(a: unknown, b: unknown): boolean {
  if (isPlainObject(a) && isPlainObject(b)) {
    const left = a as Record<string, unknown>;
    const right = b as Record<string, unknown>;
    const keys = Object.keys(left);
    return (
      keys.length === Object.keys(right).length &&
      keys.every((key) => Object.hasOwn(right, key) && sameContent(left[key], right[key]))
    );
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    // Holes have no key: an array of another device may be as long as any, and empty.
    const keys = Object.keys(a) as unknown as number[];
    return (
      a.length === b.length &&
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && sameContent(a[key], b[key]))
    );
  }
  return sameValue(a, b);
}
