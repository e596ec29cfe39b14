import type { DatePartName } from '../query/expression-types.ts';
import type { Opaque } from '../query/path/path-types.ts';

type Arithmetic =
  | '$add'
  | '$subtract'
  | '$multiply'
  | '$divide'
  | '$mod'
  | '$pow'
  | '$abs'
  | '$ceil'
  | '$floor'
  | '$round'
  | '$trunc'
  | '$sqrt'
  | '$exp'
  | '$ln'
  | '$log'
  | '$log10';

type Counts =
  | '$strLenCP'
  | '$strLenBytes'
  | '$indexOfCP'
  | '$indexOfBytes'
  | '$size'
  | '$dateDiff'
  | '$toInt'
  | '$toDouble';

type Texts =
  | '$dateToString'
  | '$concat'
  | '$toLower'
  | '$toUpper'
  | '$toString'
  | '$substr'
  | '$substrCP'
  | '$substrBytes'
  | '$trim'
  | '$ltrim'
  | '$rtrim'
  | '$replaceOne'
  | '$replaceAll';

type Dates = '$dateTrunc' | '$dateAdd' | '$dateSubtract' | '$dateFromString' | '$toDate';

/** Never null. */
type Conditions =
  | '$eq'
  | '$ne'
  | '$gt'
  | '$gte'
  | '$lt'
  | '$lte'
  | '$and'
  | '$or'
  | '$not'
  | '$isArray'
  | '$isNumber';

/** The type of an expression's value: `unknown` where its operators do not tell. */
export type ValueOf<D, E> = E extends `$$${infer Name}`
  ? Name extends 'ROOT' | 'CURRENT'
    ? D
    : unknown
  : E extends `$${infer P}`
    ? AtPath<D, P>
    : E extends string
      ? string
      : E extends number
        ? number
        : E extends boolean
          ? boolean
          : E extends Opaque
            ? E
            : E extends readonly unknown[]
              ? unknown[]
              : keyof E extends `$${string}`
                ? Computed<D, keyof E, E[keyof E]>
                : { -readonly [K in keyof E]: ValueOf<D, E[K]> };

/** What an operator makes of its operands. */
type Computed<D, O, A> = A extends { readonly onNull: unknown } | { readonly onError: unknown }
  ? unknown
  : O extends Arithmetic
    ? Exclude<Operand<D, A>, null | undefined> extends number
      ? number | NullOf<Operand<D, A>>
      : unknown
    : O extends DatePartName | Counts
      ? number | NullOf<Operand<D, A>>
      : O extends Texts
        ? string | NullOf<Operand<D, A>>
        : O extends Dates
          ? Date | NullOf<Operand<D, A>>
          : O extends Conditions
            ? boolean
            : O extends '$cond'
              ? Branches<D, A>
              : O extends '$ifNull'
                ? FirstThere<D, A>
                : unknown;

/** Of a list of operands any, of named ones those that give a result its null. */
type Operand<D, A> = A extends readonly unknown[]
  ? ValueOf<D, A[number]>
  : A extends string
    ? ValueOf<D, A>
    : A extends object
      ? keyof A extends `$${string}`
        ? ValueOf<D, A>
        : { [K in keyof A]: ValueOf<D, A[K]> }[keyof A]
      : ValueOf<D, A>;

type NullOf<V> = unknown extends V ? null : V extends null | undefined ? null : never;

type Branches<D, A> = A extends readonly [unknown, infer Then, infer Else]
  ? ValueOf<D, Then> | ValueOf<D, Else>
  : A extends { readonly then: infer Then; readonly else: infer Else }
    ? ValueOf<D, Then> | ValueOf<D, Else>
    : unknown;

type FirstThere<D, A> = A extends readonly [...infer Rest, infer Last]
  ? Exclude<ValueOf<D, Rest[number]>, null | undefined> | ValueOf<D, Last>
  : unknown;

/** What an expression finds at a path: behind an array, a list. */
type AtPath<D, P extends string> = unknown extends D
  ? unknown
  : D extends readonly (infer I)[]
    ? AtPath<I, P>[]
    : P extends `${infer Head}.${infer Rest}`
      ? Head extends keyof D
        ? AtPath<D[Head], Rest>
        : D extends null | undefined
          ? undefined
          : unknown
      : P extends keyof D
        ? D[P]
        : D extends null | undefined
          ? undefined
          : unknown;
