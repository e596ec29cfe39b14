import type { ItemCriteria } from '../query/criteria/criteria-types.ts';
import type {
  Direction,
  IfHolds,
  Named,
  Opaque,
  Sort,
  UpdatePath,
  ValueAt,
} from '../query/path/path-types.ts';
import type { AnyDocument, IgnoredFields, ManagedField, OwnFields } from './document-types.ts';

/**
 * Changes of a document: new values of fields, or update operators. Both in one object are an
 * error.
 */
export type Patch<T extends object = AnyDocument> = (NewValues<T> & NoOperators) | Update<T>;

/**
 * New values by field name or dotted path, such as `'address.city'` or `'items.0.name'`.
 * `undefined` is stored, it does not remove the field. Managed fields are ignored.
 */
export type PatchFields<T extends object = AnyDocument> = AtPaths<OwnFields<T>, '$set'> &
  IgnoredFields;

type NewValues<T extends object> = Operands<T, '$set'> & IgnoredFields;

type NoOperators = { [O in Operator]?: never };

/**
 * Update operators, with the semantics of MongoDB. Each takes an object of dotted paths and
 * operands. An error leaves the document as it was.
 *
 * Two paths, of any operators, must not be equal or one inside the other (`paths_conflict`).
 * `kind_mismatch` is the error where the stored value is of another kind than the operator needs.
 *
 * @example
 * ```ts
 * interface Person {
 *   name: string;
 *   visits: number;
 *   seen?: Date;
 *   tags: string[];
 *   address: { city: string };
 * }
 *
 * const update: Update<Person> = {
 *   $set: { 'address.city': 'Oslo' },
 *   $inc: { visits: 1 },
 *   $currentDate: { seen: true },
 *   $push: { tags: { $each: ['new'], $slice: -10 } },
 * };
 * ```
 */
export interface Update<T extends object = AnyDocument> {
  /** Sets fields; makes missing parents. Managed fields are ignored. */
  $set?: NewValues<T>;
  /** As `$set`, only where `patchOne` inserts a document by `upsert`. */
  $setOnInsert?: NewValues<T>;
  /** Removes fields. In an array the item becomes null. */
  $unset?: Operands<T, '$unset'>;
  /**
   * Adds to a number or bigint; sets a missing field. `kind_mismatch` if the operand is of the
   * other kind.
   */
  $inc?: Operands<T, '$inc'>;
  /**
   * Multiplies a number or bigint; sets a missing field to 0. `kind_mismatch` if the operand is of
   * the other kind.
   */
  $mul?: Operands<T, '$mul'>;
  /** Sets a field that is missing or greater than the operand. */
  $min?: Operands<T, '$min'>;
  /** Sets a field that is missing or less than the operand. */
  $max?: Operands<T, '$max'>;
  /**
   * Moves a field to another path and replaces the value there. `kind_mismatch` if a path leads
   * through an array.
   */
  $rename?: Operands<T, '$rename'>;
  /**
   * Sets a field to the time of the change: a Date, or with `{ $type: 'timestamp' }` Unix
   * milliseconds.
   */
  $currentDate?: Operands<T, '$currentDate'>;
  /**
   * Appends an item, or with `$each` several; makes a missing array. `kind_mismatch` if the field
   * is no array.
   */
  $push?: Operands<T, '$push'>;
  /**
   * Appends an item, or with `$each` several, unless the array has an equal one. `kind_mismatch` if
   * it is no array.
   */
  $addToSet?: Operands<T, '$addToSet'>;
  /**
   * Removes the items that equal a value, or match criteria. `kind_mismatch` if the field is no
   * array.
   */
  $pull?: Operands<T, '$pull'>;
  /** Removes the items that equal one of a list. `kind_mismatch` if the field is no array. */
  $pullAll?: Operands<T, '$pullAll'>;
  /** Removes the last item (1) or the first (-1). `kind_mismatch` if the field is no array. */
  $pop?: Operands<T, '$pop'>;
}

type Operator = keyof Update;

/** The operands of an operator by path or field: only where it can change the value. */
type Operands<T extends object, O extends Operator> =
  | AtPaths<OwnFields<T>, O>
  | AtFields<OwnFields<T>, O>;

type AtPaths<T, O extends Operator> = IfEmpty<
  { [P in UpdatePath<T, Changed[O]>]?: OperandFor<ValueAt<T, P>>[O] },
  O extends '$set' ? unknown : Record<string, never>
> &
  AtIndex<T, O>;

/**
 * Accepts computed fields, and values whose type is an interface: those never fit the index
 * signature of positions, `items.${bigint}`.
 */
type AtFields<T, O extends Operator> = IfEmpty<
  { [K in keyof T as IfHolds<T[K], Changed[O], K>]?: OperandFor<T[K]>[O] },
  never
> &
  AtIndex<T, O>;

/** `F`, or `Else` if it has no fields: every value is assignable to `{}`. */
type IfEmpty<F, Else> = F extends unknown ? ([keyof F] extends [never] ? Else : F) : never;

/**
 * Checks the declared and the managed fields of a type with an index signature, which accepts every
 * path.
 */
type AtIndex<T, O extends Operator> = string extends keyof T
  ? {
      [K in keyof T as Named<K>]?: IfHolds<T[K], Changed[O], OperandFor<T[K]>[O]>;
    } & (O extends '$set' ? unknown : Refused)
  : unknown;

type Refused = { [K in ManagedField]?: never };

/** What an operator changes. */
interface Changed extends Record<Operator, unknown> {
  $inc: number | bigint;
  $mul: number | bigint;
  $currentDate: Date | number;
  $push: readonly unknown[];
  $addToSet: readonly unknown[];
  $pull: readonly unknown[];
  $pullAll: readonly unknown[];
  $pop: readonly unknown[];
}

/** The operand of an operator for a field of type `V`. */
interface OperandFor<V> extends Record<Operator, unknown> {
  $set: V | undefined;
  $setOnInsert: V | undefined;
  $unset: true | '' | 1;
  $inc: IfHolds<V, number, number> | IfHolds<V, bigint, bigint>;
  $mul: IfHolds<V, number, number> | IfHolds<V, bigint, bigint>;
  $min: Exclude<V, undefined>;
  $max: Exclude<V, undefined>;
  $rename: string;
  $currentDate:
    | IfHolds<V, Date, boolean | { $type: 'date' }>
    | IfHolds<V, number, { $type: 'timestamp' }>;
  $push: ItemOf<V> | PushEach<ItemOf<V>>;
  $addToSet: ItemOf<V> | Each<ItemOf<V>>;
  /** An item, null as `$unset` leaves it, a pattern for strings, or criteria. */
  $pull: ItemOf<V> | null | IfHolds<ItemOf<V>, string, RegExp> | ItemCriteria<ItemOf<V>>;
  $pullAll: readonly (ItemOf<V> | null)[];
  $pop: 1 | -1;
}

type ItemOf<V> = unknown extends V ? unknown : V extends readonly (infer I)[] ? I : never;

/** Several items. */
interface Each<I> {
  $each: readonly I[];
}

/** Several items, and what becomes of the array: it is sorted first, then cut. */
interface PushEach<I> extends Each<I> {
  /** Where to insert them; negative counts from the end. @default the end */
  $position?: number;
  /** Keeps the first items, or with a negative number the last. */
  $slice?: number;
  /** The order of the items: whole items, or by paths inside them. */
  $sort?: Direction | (I extends Opaque ? never : Sort<I>);
}
