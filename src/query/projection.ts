import { checkPath } from './path/own-property.ts';
import type { FieldPath, Opaque } from './path/path-types.ts';
import { unexpectedValue } from './query-errors.ts';
import { isFields } from './value/value-type.ts';

/** The fields to keep: `undefined` keeps a field whole, a map the fields below it. */
type Kept = Map<string, Kept | undefined>;

/**
 * Compiles a list of dotted paths to a projection: it keeps these fields and `_id`, in the
 * document's own order. As in MongoDB's inclusion, a path reaches into objects and objects in
 * arrays; other values on the way are left out. Values kept whole are shared, not copied.
 *
 * @throws {CriteriaError} `select_invalid`, naming the place, such as `select[1]`.
 */
export function compileSelect(paths: unknown): (document: object) => object {
  if (!Array.isArray(paths))
    throw unexpectedValue('select_invalid', 'select', 'a list of paths', paths);
  const kept: Kept = new Map([['_id', undefined]]);
  for (const [index, path] of paths.entries()) {
    keep(kept, checkPath(path, 'select_invalid', `select[${index}]`));
  }
  return (document) => keepFields(document as Record<string, unknown>, kept);
}

function keep(kept: Kept, [key, ...rest]: readonly string[]): void {
  if (key === undefined) return;
  const below = kept.get(key);
  if (rest.length === 0) kept.set(key, undefined);
  else if (below) keep(below, rest);
  else if (!kept.has(key)) {
    const fields: Kept = new Map();
    kept.set(key, fields);
    keep(fields, rest);
  }
}

function keepFields(fields: Record<string, unknown>, kept: Kept): object {
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    if (!kept.has(key)) continue;
    const below = kept.get(key);
    const value = fields[key];
    if (!below) result[key] = value;
    else if (Array.isArray(value)) result[key] = keepInItems(value, below);
    else if (isFields(value)) result[key] = keepFields(value, below);
  }
  return result;
}

function keepInItems(items: readonly unknown[], kept: Kept): unknown[] {
  return items.flatMap((item) => {
    if (Array.isArray(item)) return [keepInItems(item, kept)];
    return isFields(item) ? [keepFields(item, kept)] : [];
  });
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
