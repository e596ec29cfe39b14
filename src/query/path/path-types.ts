/** Values without fields that a path could lead to. */
type Simple =
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

/** `Then` for a value that can be of a type `Wanted`. */
export type IfHolds<V, Wanted, Then, Else = never> = unknown extends V | Wanted
  ? Then
  : [Extract<V, Wanted>] extends [never]
    ? Else
    : Then;

/** A declared key, not an index signature. */
export type Named<K> = string extends K ? never : number extends K ? never : K;

/** The levels left one level deeper, by the levels left here. */
type Deeper = [never, 0, 1, 2];

/** An invariant form of `V`: neither a wider nor a narrower type is assignable. */
type Exactly<V> = (value: V) => V;

type FieldName<V> = keyof V & (string | number);

/** Which paths to list. */
interface PathKind {
  /** How a path names a position in an array; `never`: not at all. */
  position: string;
  /** Whether a path leads into all items of an array at once, as criteria read it. */
  items: boolean;
  /** What the value at a path may be; `unknown`: anything. */
  holds: unknown;
}

/**
 * The dotted paths of kind `M` inside a value of type `V`.
 *
 * Every path (`string`) is accepted below `Levels` further objects, one level below a type that
 * contains itself, and inside `unknown`.
 */
type Inside<V, M extends PathKind, Levels extends number, Above> = unknown extends V
  ? string
  : V extends Opaque
    ? never
    : V extends readonly (infer I)[]
      ? InsideArray<I, M, Levels, Above>
      : [Levels] extends [never]
        ? string
        : string extends keyof V
          ? string
          : InsideFields<V, M, Exactly<V> extends Above ? never : Deeper[Levels], Above>;

type InsideFields<V, M extends PathKind, Levels extends number, Above> = {
  [K in FieldName<V>]:
    | IfWanted<V[K], M, `${K}`>
    | `${K}.${Inside<V[K], M, Levels, Above | Exactly<V>>}`;
}[FieldName<V>];

type InsideArray<I, M extends PathKind, Levels extends number, Above> = [Levels] extends [never]
  ? string
  :
      | IfWanted<I, M, M['position']>
      // Into an array of an array by position only.
      | (I extends readonly unknown[]
          ? `${M['position']}.${Inside<I, M, Deeper[Levels], Above>}`
          : `${M['position']}.${Inside<I, M, Levels, Above>}` | AllItems<I, M, Levels, Above>);

type AllItems<I, M extends PathKind, Levels extends number, Above> = M['items'] extends true
  ? Inside<I, M, Levels, Above>
  : never;

/** `Name` if the value there can be of a wanted type. */
type IfWanted<V, M extends PathKind, Name> = unknown extends M['holds']
  ? Name
  : IfHolds<M['items'] extends true ? Item<V> : V, M['holds'], Name>;

interface AnyPath extends PathKind {
  position: `${number}`;
  items: true;
}

interface AnyFieldPath extends PathKind {
  position: never;
  items: true;
}

interface OrderedPath extends AnyPath {
  holds: Simple;
}

interface ChangedPath<Held> extends PathKind {
  /** `${number}` also takes `0.1`: then `grid.${number}` is the path of a row and of its items. */
  position: `${bigint}` | '$' | `$[${string}]`;
  items: false;
  holds: Held;
}

/**
 * The dotted paths into a document of type `T`, with positions in arrays: `name`, `address.city`,
 * `items.name`, `items.0.name`. They are checked four fields deep. Deeper paths, paths into
 * `unknown` fields and repeated paths of recursive types are accepted unchecked.
 */
export type Path<T> = Inside<T, AnyPath, 3, never>;

/** The paths of {@link Path} without positions in arrays: `items.name`, and not `items.0.name`. */
export type FieldPath<T> = Inside<T, AnyFieldPath, 3, never>;

/**
 * The paths of {@link Path} that can order documents: they lead to values without fields, or to
 * arrays of them.
 */
type SortPath<T> = Inside<T, OrderedPath, 3, never>;

/**
 * The paths of {@link Path} that name places, by positions or positional operators: `items.0.name`,
 * `items.$[].name`, not `items.name`. Only those that can hold `Held`.
 */
export type UpdatePath<T, Held = unknown> = Inside<T, ChangedPath<Held>, 3, never>;

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
        ? Name extends `${number}` | `${bigint}` | `$${string}`
          ? I
          : FieldOf<I, Name>
        : string extends keyof T
          ? unknown
          : Name extends keyof T
            ? T[Name]
            : Name extends `${infer N extends number}`
              ? T[N & keyof T]
              : never;

/** Ascending or descending. */
export type Direction = 1 | -1;

/**
 * An order of documents: paths with their direction, the most important first. Checked against `T`.
 * Objects cannot be sorted by, their fields can. A path that is known only at run time,
 * `{ [column]: 1 }`, is accepted unchecked.
 *
 * @example `{ 'address.city': 1, age: -1 }`
 */
export type Sort<T = Record<string, unknown>> = { [P in SortPath<T>]?: DirectionAt<P> };

/**
 * Positions in arrays, `items.${number}`, make an index signature. A computed key has to fit it,
 * and TypeScript takes the value of one for a `number`.
 */
type DirectionAt<P extends string> = string extends P
  ? Direction
  : Record<never, never> extends Record<P, unknown>
    ? number
    : Direction;
