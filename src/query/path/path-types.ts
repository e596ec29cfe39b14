/** Values that have something to say by themselves, and nothing inside that a path could lead to. */
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

/** A Blob by what it has: not every program that is compiled with these types knows the DOM's. */
interface BlobShape {
  readonly size: number;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** Where a path ends. */
export type Opaque = Simple | symbol | null | undefined;

/** The items of an array, and the value itself of everything else. */
export type Item<V> = V extends readonly (infer I)[] ? I : V;

/** Levels that may still be gone down, by the levels that may be gone down here. */
type Deeper = [never, 0, 1, 2];

/** Type `V` and no other: in parameter and result, so that neither a wider nor a narrower one passes for it. */
type Exactly<V> = (value: V) => V;

type FieldName<V> = keyof V & (string | number);

/**
 * The dotted paths inside a value of type `V`, where `Index` stands for a position in an array.
 *
 * Below `Levels` further objects, and one level below a type that contains itself, every path is accepted:
 * `string`. So is it inside what may be anything.
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

/** A path leads to a position, or into all items at once; into arrays that are items only by position. */
type InsideArray<I, Index extends string, Levels extends number, Above> = [Levels] extends [never]
  ? string
  : I extends readonly unknown[]
    ? Index | `${Index}.${Inside<I, Index, Deeper[Levels], Above>}`
    : Index | `${Index}.${Inside<I, Index, Levels, Above>}` | Inside<I, Index, Levels, Above>;

/**
 * The paths that lead somewhere in a document of type `T`, dotted and with positions in arrays: `name`,
 * `address.city`, `items.name`, `items.0.name`. They are known four fields deep; deeper ones are accepted as
 * they are, as are those into fields that may be anything and those that go round in a recursive type more
 * than once.
 */
export type Path<T> = Inside<T, `${number}`, 3, never>;

/** The paths of {@link Path} without positions in arrays: `items.name`, and not `items.0.name`. */
export type FieldPath<T> = Inside<T, never, 3, never>;

/** What a path leads to in a value of type `T`; `unknown` where that is not known. */
export type ValueAt<T, P extends string> = P extends `${infer Head}.${infer Rest}`
  ? ValueAt<FieldOf<T, Head>, Rest>
  : FieldOf<T, P>;

/** What a single step leads to: from an array to the item at a position, or into all of its items. */
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
