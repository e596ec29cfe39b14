import { checkPath } from './path/own-property.ts';
import type { FieldPath, Opaque } from './path/path-types.ts';
import { unexpectedValue } from './query-errors.ts';
import { isFields } from './value/value-type.ts';

/** What becomes of a field: it is kept, left out, changed, or looked into. */
export type Rule = boolean | Reshape | Rules;

export type Rules = Map<string, Rule>;

/** @returns the value to show, `GONE` for none. */
export type Reshape = (value: unknown) => unknown;

export const GONE = Symbol('gone');

export interface Projection {
  readonly rules: Rules;
  /** Whether fields without a rule are left out. */
  readonly keeps: boolean;
}

/**
 * Compiles a list of dotted paths to a projection: it keeps these fields and `_id`, in the
 * document's own order. As in MongoDB's inclusion, a path reaches into objects and objects in
 * arrays; other values on the way are left out. Values kept whole are shared, not copied.
 *
 * @throws {CriteriaError} `select_invalid`, naming the place, such as `select[1]`.
 */
export function compileSelect(paths: unknown): (document: object) => object {
  if (!Array.isArray(paths))
    throw unexpectedValue(
      'select_invalid',
      'select',
      'a list of paths (an object goes with criteria; map what a function finds)',
      paths,
    );
  const rules: Rules = new Map([['_id', true]]);
  for (const [index, path] of paths.entries())
    addRule(rules, checkPath(path, 'select_invalid', `select[${index}]`), true);
  return projecting({ rules, keeps: true });
}

export function projecting({ rules, keeps }: Projection): (document: object) => object {
  return (document) => project(document as Record<string, unknown>, rules, keeps);
}

/** @returns whether it meets no rule of a path around it, or inside it. */
export function addRule(rules: Rules, [key, ...rest]: readonly string[], rule: Rule): boolean {
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
