import type { FieldPath, Opaque } from '../path/path-types.ts';

/** Paths to select from documents of type `T`. */
export type PathList<T> = readonly FieldPath<T>[];

/**
 * A document of type `T` with only the selected paths `P`.
 *
 * A list that the compiler does not know, such as `string[]`, leaves every field optional. Documents with an
 * index signature keep it.
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
