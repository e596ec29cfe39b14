import type { Item, Path, ValueAt } from '../path/path-types.ts';

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
 * Checked against `T`: names and dotted {@link Path}s, operators, operands. Fields that `T` does not know can be
 * asked for only where it has an index signature.
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

type PathCriteria<T> = { readonly [P in Path<T>]?: FieldCriteria<ValueAt<T, P>> };

/** Beside an index signature, which lets every path pass, named fields are checked as well. */
type KnownFieldCriteria<T> = {
  readonly [K in keyof T as string extends keyof T ? Named<K> : never]?: FieldCriteria<T[K]>;
};

type Named<K> = string extends K ? never : number extends K ? never : K;

/** Criteria combined; each list must hold at least one. */
interface LogicalCriteria<T> {
  /** All of them match. */
  readonly $and?: readonly Criteria<T>[];
  /** At least one of them matches. */
  readonly $or?: readonly Criteria<T>[];
  /** None of them matches. */
  readonly $nor?: readonly Criteria<T>[];
}

/** What a field of type `V` can be asked for: a value, a pattern, or operators. */
type FieldCriteria<V> = unknown extends V ? unknown : Literal<V> | FieldOperators<V>;

/** A value to compare with: the field's own type, or for an array also one of its items. */
type Operand<V> = (V extends readonly (infer I)[] ? I | readonly I[] : V) | null | undefined;

/** `Then` for a field that has, or whose items have, values of type `Wanted`. */
type IfHolds<V, Wanted, Then, Else> = [Extract<V, Wanted>] extends [never] ? Else : Then;

/** A string field takes a RegExp wherever it takes a value to be equal to. */
type Literal<V> = Operand<V> | IfHolds<Item<V>, string, RegExp, never>;

/** The operators on a field of type `V`: those that can match it. */
type FieldOperators<V> = ValueOperators<V> &
  IfHolds<Item<V>, string, PatternOperators, unknown> &
  IfHolds<Item<V>, number | bigint, NumberOperators, unknown> &
  IfHolds<V, readonly unknown[], ArrayOperators<V>, unknown>;

interface ValueOperators<V> {
  /** Equal; null also matches `undefined` and missing. */
  readonly $eq?: Operand<V>;
  /** Not equal, no item of an array either. */
  readonly $ne?: Operand<V>;
  readonly $gt?: Operand<V>;
  readonly $gte?: Operand<V>;
  readonly $lt?: Operand<V>;
  readonly $lte?: Operand<V>;
  /** Equal to, or matched by, one of these. */
  readonly $in?: readonly Literal<V>[];
  /** Equal to, or matched by, none of these. */
  readonly $nin?: readonly Literal<V>[];
  /** The operators do not match, or the pattern does not. */
  readonly $not?: FieldOperators<V> | IfHolds<Item<V>, string, RegExp, never>;
  /** Whether the field exists, null and `undefined` included. */
  readonly $exists?: boolean;
  /** The type of the value, or of an item of the array: a name, BSON's number for it, or a list of them. */
  readonly $type?: TypeAlias | number | readonly (TypeAlias | number)[];
  /** All of these are in the array, or equal to the value. */
  readonly $all?: readonly (Literal<V> | { readonly $elemMatch: ItemCriteria<Item<V>> })[];
}

interface PatternOperators {
  /**
   * A pattern of at most 1,000 characters; a string of over 1,000,000 that it is tried on is an error. It runs in
   * the thread of the engine and cannot be stopped there, so make none of untrusted input. Behind `connect()` a
   * worker that hangs in one is replaced, and only this call rejects; with `Database` the page hangs with it.
   */
  readonly $regex?: RegExp | string;
  /** Flags for `$regex`: any of `i`, `m`, `s`, `u`. */
  readonly $options?: string;
}

interface NumberOperators {
  /** `[divisor, remainder]`. */
  readonly $mod?: readonly [divisor: number | bigint, remainder: number | bigint];
}

interface ArrayOperators<V> {
  /** The length of the array. */
  readonly $size?: number;
  /** One item of the array fulfils all of this. */
  readonly $elemMatch?: ItemCriteria<Item<V>>;
}

/** Criteria for an item of an array: operators on the item, or criteria for the fields inside it. */
export type ItemCriteria<I> = unknown extends I
  ? unknown
  : FieldOperators<I> | (I extends object ? Criteria<I> : never);
