import { isManaged } from '../protocol/managed.ts';
import { checkPath } from './path/own-property.ts';
import type { FieldPath, Opaque } from './path/path-types.ts';
import { selectInvalid, unexpectedValue } from './query-errors.ts';
import { isFields } from './value/value-type.ts';

/** What becomes of a field: it is kept, left out, changed, or looked into. */
type Rule = boolean | Change | Rules;

type Rules = Map<string, Rule>;

/** @returns the value to show, `GONE` for none. */
type Change = (value: unknown) => unknown;

const GONE = Symbol('gone');

/** Compiles the criteria of `$elemMatch`. */
type CompileItems = (criteria: unknown) => (item: unknown) => boolean;

/** A compiled `select`. */
interface Projection {
  readonly rules: Rules;
  /** Whether fields without a rule are left out. */
  readonly keeps: boolean;
}

/**
 * Compiles `select` to a projection, with MongoDB's semantics: a list of dotted paths to keep, or
 * an object that keeps fields, leaves them out, or takes items of arrays (`$slice`, `$elemMatch`).
 * A path reaches into objects and objects in arrays; where fields are kept, other values on the way
 * are left out. The document's order stays. Values kept whole are shared, not copied.
 *
 * @param compileItems Where `$elemMatch` is possible.
 * @throws {CriteriaError} `select_invalid`, naming the place, such as `select[1]` or
 *   `select.address.city`.
 *
 * @example
 * ```ts
 * compileSelect(['name'])({ _id: 'x', name: 'Ada', age: 36 }); // { _id: 'x', name: 'Ada' }
 * compileSelect({ age: 0 })({ _id: 'x', name: 'Ada', age: 36 }); // { _id: 'x', name: 'Ada' }
 * ```
 */
export function compileSelect(
  select: unknown,
  compileItems?: CompileItems,
): (document: object) => object {
  const { rules, keeps } = Array.isArray(select)
    ? fromList(select)
    : fromObject(select, compileItems);
  return (document) => project(document as Record<string, unknown>, rules, keeps);
}

function fromList(paths: readonly unknown[]): Projection {
  const rules: Rules = new Map([['_id', true]]);
  for (const [index, path] of paths.entries())
    addRule(rules, checkPath(path, 'select_invalid', `select[${index}]`), true);
  return { rules, keeps: true };
}

function fromObject(select: unknown, compileItems: CompileItems | undefined): Projection {
  if (!isFields(select))
    throw unexpectedValue('select_invalid', 'select', 'a list of paths, or an object', select);
  const rules: Rules = new Map();
  /** Whether it keeps fields, or leaves them out; managed ones decide where no other does. */
  let [own, managed]: (boolean | undefined)[] = [];
  for (const [path, value] of Object.entries(select)) {
    const place = `select.${path}`;
    const rule = ruleOf(value, place, compileItems);
    if (!addRule(rules, checkPath(path, 'select_invalid', place), rule))
      throw selectInvalid(place, 'is inside of another path, or around one');
    const keeps = typeof rule === 'boolean' ? rule : '$elemMatch' in (value as object) || undefined;
    if (keeps === undefined) continue;
    if (isManaged(path)) {
      if (path !== '_id' || keeps) managed ??= keeps;
      continue;
    }
    own ??= keeps;
    if (own !== keeps)
      throw selectInvalid(place, 'keeps a field where others are left out, or the reverse');
  }
  const keeps = own ?? managed ?? false;
  if (keeps && !rules.has('_id')) rules.set('_id', true);
  return { rules, keeps };
}

function ruleOf(value: unknown, place: string, compileItems: CompileItems | undefined): Rule {
  if (value === 1 || value === 0 || typeof value === 'boolean') return Boolean(value);
  const [name, ...others] = isFields(value) ? Object.keys(value) : [];
  const operand = isFields(value) ? value[name as string] : undefined;
  if (name === '$slice' && others.length === 0) return slice(operand, `${place}.$slice`);
  if (name === '$elemMatch' && others.length === 0) {
    if (!compileItems)
      throw selectInvalid(place, 'takes items by criteria, which a function cannot go with');
    if (!isFields(operand))
      throw unexpectedValue('select_invalid', `${place}.$elemMatch`, 'criteria', operand);
    const matches = compileItems(operand);
    return (items) => {
      const index = Array.isArray(items) ? items.findIndex(matches) : -1;
      return index < 0 ? GONE : [(items as unknown[])[index]];
    };
  }
  throw unexpectedValue('select_invalid', place, '1, 0, { $slice } or { $elemMatch }', value);
}

function slice(operand: unknown, place: string): Change {
  const isRange = Array.isArray(operand);
  const [first, count, ...more] = (isRange ? operand : [operand]) as [number, number?];
  const isCount = isRange ? (count as number) > 0 && Number.isSafeInteger(count) : true;
  if (!Number.isSafeInteger(first) || !isCount || more.length > 0)
    throw unexpectedValue('select_invalid', place, 'a whole number, or [skip, limit]', operand);
  return (items) => {
    if (!Array.isArray(items)) return items;
    if (count === undefined) return first < 0 ? items.slice(first) : items.slice(0, first);
    const from = first < 0 ? Math.max(0, items.length + first) : first;
    return items.slice(from, from + count);
  };
}

/** @returns whether it meets no rule of a path around it, or inside it. */
function addRule(rules: Rules, [key, ...rest]: readonly string[], rule: Rule): boolean {
  const there = rules.get(key as string);
  if (rest.length === 0) {
    rules.set(key as string, rule);
    return there === undefined || key === '_id';
  }
  if (there instanceof Map) return addRule(there, rest, rule);
  if (there !== undefined) return false;
  const below: Rules = new Map();
  rules.set(key as string, below);
  return addRule(below, rest, rule);
}

function project(fields: Record<string, unknown>, rules: Rules, keeps: boolean): object {
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    const shown = shownBy(rules.get(key) ?? !keeps, fields[key], keeps);
    if (shown !== GONE) result[key] = shown;
  }
  return result;
}

function shownBy(rule: Rule, value: unknown, keeps: boolean): unknown {
  if (typeof rule === 'boolean') return rule ? value : GONE;
  if (typeof rule === 'function') return rule(value);
  if (Array.isArray(value)) return projectItems(value, rule, keeps);
  if (isFields(value)) return project(value, rule, keeps);
  return keeps ? GONE : value;
}

function projectItems(items: readonly unknown[], rules: Rules, keeps: boolean): unknown[] {
  return items.map((item) => shownBy(rules, item, keeps)).filter((item) => item !== GONE);
}

/** Paths to select from documents of type `T`. */
export type PathList<T> = readonly FieldPath<T>[];

/**
 * A document of type `T` with only the selected paths `P`.
 *
 * A list that the compiler does not know, such as `string[]`, leaves every field optional.
 * Documents with an index signature keep it.
 */
export type Selected<T, P extends readonly string[]> = T extends unknown
  ? string extends keyof T
    ? Pick<T, '_id' & keyof T> & Record<string, unknown>
    : number extends P['length']
      ? Pick<T, '_id' & keyof T> & Part<T>
      : Narrowed<T, P[number] | '_id'>
  : never;

/** What becomes of a field: kept (1), left out (0), or some items of an array. */
type Choice =
  | 0
  | 1
  | boolean
  | { readonly $slice: number | readonly [skip: number, limit: number] }
  | { readonly $elemMatch: object };

/**
 * Fields to keep, or fields to leave out, by path. Managed fields may be either in both; `_id` is
 * kept unless it is left out.
 */
export type SelectObject<T> = { readonly [P in FieldPath<T>]?: Choice };

/** Refuses other paths: a type of optional fields alone accepts them. */
export type KnownPaths<T, L> = L extends readonly unknown[] | undefined
  ? unknown
  : { readonly [P in Exclude<keyof L, FieldPath<T>>]: never };

type Keeping = 1 | true | { readonly $elemMatch: unknown };

/** The paths in `L` whose choice is a `C`. */
type Chosen<L, C> = { [P in keyof L & string]: L[P] extends C ? P : never }[keyof L & string];

/** A document of type `T` as an object of choices `L` leaves it. */
export type Projected<T, L> = T extends unknown
  ? string extends keyof T
    ? T
    : [Chosen<L, Keeping>] extends [never]
      ? Without<T, Chosen<L, 0 | false>>
      : FoundItems<Narrowed<T, Chosen<L, Keeping | { readonly $slice: unknown }> | KeptId<L>>, L>
  : never;

type KeptId<L> = L extends { readonly _id: 0 | false } ? never : '_id';

/** `$elemMatch` may find nothing. */
type FoundItems<T, L> = [Chosen<L, { readonly $elemMatch: unknown }>] extends [never]
  ? T
  : Omit<T, Chosen<L, { readonly $elemMatch: unknown }>> &
      Partial<Pick<T, keyof T & Chosen<L, { readonly $elemMatch: unknown }>>>;

/** A value without the fields at these paths. */
type Without<T, P extends string> = [P] extends [never]
  ? T
  : unknown extends T
    ? unknown
    : T extends Opaque
      ? T
      : T extends readonly (infer I)[]
        ? Items<T, Without<I, P>>
        : string extends keyof T
          ? T
          : { [K in keyof T as K extends P ? never : K]: Without<T[K], Below<P, K>> };

/** `P` holds known paths only, none of them with a position in an array. */
type Narrowed<T, P extends string> = unknown extends T
  ? unknown
  : T extends Opaque
    ? T
    : T extends readonly (infer I)[]
      ? Items<T, Narrowed<I, P>>
      : string extends P | keyof T
        ? T
        : {
            [K in keyof T as `${K & (string | number)}` extends First<P> ? K : never]: K extends P
              ? T[K]
              : Narrowed<T[K], Below<P, K>>;
          };

type First<P extends string> = P extends `${infer Name}.${string}` ? Name : P;

type Below<P extends string, K> = P extends `${K & (string | number)}.${infer Rest}` ? Rest : never;

/** An array with other items, as read-only as it was. */
type Items<T, I> = T extends unknown[] ? I[] : readonly I[];

/** A value with all fields optional, on every level. */
type Part<T> = unknown extends T
  ? unknown
  : T extends Opaque
    ? T
    : T extends readonly (infer I)[]
      ? Items<T, Part<I>>
      : { [K in keyof T]?: Part<T[K]> };
