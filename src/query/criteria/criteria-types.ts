import type { Expression } from '../expression-types.ts';
import type { IfHolds, Item, Named, Path, ValueAt } from '../path/path-types.ts';

/** A BSON type by name, as `$type` takes it. */
type TypeAlias =
  | 'double'
  | 'string'
  | 'object'
  | 'array'
  | 'binData'
  | 'undefined'
  | 'objectId'
  | 'bool'
  | 'date'
  | 'null'
  | 'regex'
  | 'dbPointer'
  | 'javascript'
  | 'symbol'
  | 'javascriptWithScope'
  | 'int'
  | 'timestamp'
  | 'long'
  | 'decimal'
  | 'minKey'
  | 'maxKey'
  | 'number';

/**
 * Criteria for documents of type `T`, in the object form of MongoDB.
 *
 * TypeScript checks field names, dotted {@link Path}s, operators and operands against `T`. Fields
 * that `T` does not declare are accepted only where it has an index signature.
 *
 * @example
 * ```ts
 * interface Person { name: string; age: number; tags: string[]; address: { city: string } }
 *
 * const criteria: Criteria<Person> = {
 *   age: { $gte: 20, $lt: 40 },
 *   tags: 'climber',
 *   'address.city': { $in: ['Oslo', 'Bergen'] },
 *   $or: [{ name: /^A/ }, { name: { $exists: false } }],
 * };
 * ```
 */
export type Criteria<T = Record<string, unknown>> = LogicalCriteria<T> &
  PathCriteria<T> &
  KnownFieldCriteria<T>;

type PathCriteria<T> = { [P in Path<T>]?: FieldCriteria<ValueAt<T, P>> };

/** Checks the declared fields of a type with an index signature, which accepts every path. */
type KnownFieldCriteria<T> = {
  [K in keyof T as string extends keyof T ? Named<K> : never]?: FieldCriteria<T[K]>;
};

/** Logical operators; each list must have at least one item. */
interface LogicalCriteria<T> {
  /** All match. */
  $and?: readonly Criteria<T>[];
  /** At least one matches. */
  $or?: readonly Criteria<T>[];
  /** None matches. */
  $nor?: readonly Criteria<T>[];
  /**
   * An expression of MongoDB's aggregation language that holds, such as
   * `{ $gt: ['$spent', '$budget'] }`. No index helps it. Its code is a part, which loads with the
   * first.
   */
  $expr?: Expression;
  /** A note for readers of the query; it matches everything. */
  $comment?: string;
}

/** The criteria of a field of type `V`: a value, a pattern, or operators. */
type FieldCriteria<V> = unknown extends V ? unknown : Literal<V> | FieldOperators<V>;

/** A value to compare with: of the field's type, or for an array of its items' type. */
type Operand<V> = (V extends readonly (infer I)[] ? I | readonly I[] : V) | null | undefined;

/** A value for equality; for a string field also a RegExp. */
type Literal<V> = Operand<V> | IfHolds<Item<V>, string, RegExp>;

/** The operators on a field of type `V`: those that can match it. */
type FieldOperators<V> = ValueOperators<V> &
  IfHolds<Item<V>, string, PatternOperators, unknown> &
  IfHolds<Item<V>, number | bigint, NumberOperators, unknown> &
  IfHolds<Item<V>, number | bigint | ArrayBuffer | ArrayBufferView, BitOperators, unknown> &
  IfHolds<V, readonly unknown[], ArrayOperators<V>, unknown>;

interface ValueOperators<V> {
  /** Equal; null also matches `undefined` and missing fields. */
  $eq?: Operand<V>;
  /** Not equal; for an array, no item is equal either. */
  $ne?: Operand<V>;
  $gt?: Operand<V>;
  $gte?: Operand<V>;
  $lt?: Operand<V>;
  $lte?: Operand<V>;
  /** Equal to, or matched by, one of these. */
  $in?: readonly Literal<V>[];
  /** Equal to, or matched by, none of these. */
  $nin?: readonly Literal<V>[];
  /** The operators do not match, or the pattern does not. */
  $not?: FieldOperators<V> | IfHolds<Item<V>, string, RegExp>;
  /** Whether the field exists; null and `undefined` count as existing. */
  $exists?: boolean;
  /**
   * The type of the value, or of an item of the array: a name, BSON's number for it, or a list of
   * them.
   */
  $type?: TypeAlias | number | readonly (TypeAlias | number)[];
  /** All of these are in the array, or equal to the value. */
  $all?: readonly (Literal<V> | { readonly $elemMatch: ItemCriteria<Item<V>> })[];
}

interface PatternOperators {
  /**
   * A pattern of JavaScript, of at most 1,000 characters. It runs in the engine's thread and cannot
   * be stopped there: never build one from untrusted input. With `connect()`, a worker that hangs
   * in a pattern is replaced, and only this call rejects; with `Database` the page hangs.
   */
  $regex?: RegExp | string;
  /** Flags for `$regex`: any of `i`, `m`, `s`, `u`. */
  $options?: string;
}

interface NumberOperators {
  /** `[divisor, remainder]`. */
  $mod?: readonly [divisor: number | bigint, remainder: number | bigint];
}

/** Bits, by a mask, a list of positions, or bytes. Whole numbers and binary values have bits. */
interface BitOperators {
  $bitsAllSet?: BitMask;
  $bitsAnySet?: BitMask;
  $bitsAllClear?: BitMask;
  $bitsAnyClear?: BitMask;
}

type BitMask = number | bigint | readonly number[] | ArrayBuffer | ArrayBufferView;

interface ArrayOperators<V> {
  /** The length of the array. */
  $size?: number;
  /** One item of the array matches all of this. */
  $elemMatch?: ItemCriteria<Item<V>>;
}

/**
 * Criteria for an item of an array: operators on the item, or criteria for the fields inside it.
 */
export type ItemCriteria<I> = unknown extends I
  ? unknown
  : FieldOperators<I> | (I extends object ? Criteria<I> : never);
