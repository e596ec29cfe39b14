/** Values without fields that a path could lead to. */
export type Simple =
  | string
  | number
  | bigint
  | boolean
  | Date
  | RegExp
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | ArrayBuffer
  | ArrayBufferView
  | BlobShape
  | ((...parameters: never[]) => unknown);

/** A Blob by its shape: a program may compile against these types without the DOM's. */
interface BlobShape {
  readonly size: number;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** Where a path ends. */
export type Opaque = Simple | symbol | null | undefined;

/** The items of an array, and the value itself of everything else. */
export type Item<V> = V extends readonly (infer I)[] ? I : V;

/** The levels left one level deeper, by the levels left here. */
type Deeper = [never, 0, 1, 2];

/** An invariant form of `V`: neither a wider nor a narrower type is assignable. */
type Exactly<V> = (value: V) => V;

type FieldName<V> = keyof V & (string | number);

/**
 * The dotted paths inside a value of type `V`, where `Index` stands for a position in an array.
 *
 * Every path (`string`) is accepted below `Levels` further objects, one level below a type that contains itself, and
 * inside `unknown`.
 */
type Inside<V, Index extends string, Levels extends number, Above> = unknown extends V
  ? string
  : V extends Opaque
    ? never
    : V extends readonly (infer I)[]
      ? InsideArray<I, Index, Levels, Above>
      : [Levels] extends [never]
        ? string
        : string extends keyof V
          ? string
          : InsideFields<V, Index, Exactly<V> extends Above ? never : Deeper[Levels], Above>;

type InsideFields<V, Index extends string, Levels extends number, Above> = {
  [K in FieldName<V>]: `${K}` | `${K}.${Inside<V[K], Index, Levels, Above | Exactly<V>>}`;
}[FieldName<V>];

/** A path leads to a position or into all items at once; into an array of an array by position only. */
type InsideArray<I, Index extends string, Levels extends number, Above> = [Levels] extends [never]
  ? string
  : I extends readonly unknown[]
    ? Index | `${Index}.${Inside<I, Index, Deeper[Levels], Above>}`
    : Index | `${Index}.${Inside<I, Index, Levels, Above>}` | Inside<I, Index, Levels, Above>;

/**
 * The dotted paths into a document of type `T`, with positions in arrays: `name`, `address.city`, `items.name`,
 * `items.0.name`. They are checked four fields deep. Deeper paths, paths into `unknown` fields and repeated paths of
 * recursive types are accepted unchecked.
 */
export type Path<T> = Inside<T, `${number}`, 3, never>;

/** The paths of {@link Path} without positions in arrays: `items.name`, and not `items.0.name`. */
export type FieldPath<T> = Inside<T, never, 3, never>;

/** The type of the value at a path in `T`; `unknown` if the path is not checked. */
export type ValueAt<T, P extends string> = P extends `${infer Head}.${infer Rest}`
  ? ValueAt<FieldOf<T, Head>, Rest>
  : FieldOf<T, P>;

/** The type after one segment: from an array, the item at a position, or the field of all items. */
type FieldOf<T, Name extends string> = unknown extends T
  ? unknown
  : T extends Opaque
    ? never
    : string extends Name
      ? unknown
      : T extends readonly (infer I)[]
        ? Name extends `${number}`
          ? I
          : FieldOf<I, Name>
        : string extends keyof T
          ? unknown
          : Name extends keyof T
            ? T[Name]
            : Name extends `${infer N extends number}`
              ? T[N & keyof T]
              : never;
