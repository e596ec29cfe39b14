/**
 * An expression of MongoDB's aggregation language: a value, a path such as `'$address.city'`, a
 * variable such as `'$$NOW'`, an operator, or an object or a list of expressions.
 *
 * A string that begins with `$` is a path: `{ $literal: '$5' }` is the text.
 *
 * @example
 * ```ts
 * const expression: Expression = { $gt: ['$spent', { $multiply: ['$budget', 2] }] };
 * ```
 */
export type Expression =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | Date
  | RegExp
  | ArrayBuffer
  | ArrayBufferView
  | Blob
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | readonly Expression[]
  | ExpressionOperators
  | ExpressionFields;

/** An object of expressions; a name that begins with `$` is an operator's. */
interface ExpressionFields {
  readonly [operator: `$${string}`]: never;
  readonly [field: string]: Expression;
}

/** Arguments in a list; those of a wrong number are refused when they are compiled. */
type List = readonly Expression[];

type Named<Required extends string, Optional extends string = never> = {
  readonly [Name in Required]: Expression;
} & { readonly [Name in Optional]?: Expression };

/** The units of dates. */
type DateUnit =
  | 'year'
  | 'quarter'
  | 'month'
  | 'week'
  | 'day'
  | 'hour'
  | 'minute'
  | 'second'
  | 'millisecond';

/** A unit, or an expression that gives one. */
type Unit = { readonly unit: DateUnit | ExpressionOperators | (string & Record<never, never>) };

type Time = 'hour' | 'minute' | 'second' | 'millisecond' | 'timezone';

/** A pattern is the same for all documents. */
interface RegexArguments {
  readonly input: Expression;
  readonly regex: string | RegExp;
  /** Flags of JavaScript, such as `'i'`. */
  readonly options?: string;
}

/** The operators that read a part of a date. */
export type DatePartName =
  | '$year'
  | '$month'
  | '$dayOfMonth'
  | '$hour'
  | '$minute'
  | '$second'
  | '$millisecond'
  | '$dayOfYear'
  | '$dayOfWeek'
  | '$week'
  | '$isoWeek'
  | '$isoWeekYear'
  | '$isoDayOfWeek';

/** Operators with one argument, alone or in a list, or with any number of them. */
type OfOne =
  | '$add'
  | '$multiply'
  | '$bitAnd'
  | '$bitOr'
  | '$bitXor'
  | '$and'
  | '$or'
  | '$ifNull'
  | '$concat'
  | '$concatArrays'
  | '$setUnion'
  | '$setIntersection'
  | '$setEquals'
  | '$mergeObjects'
  | '$sum'
  | '$avg'
  | '$min'
  | '$max'
  | '$stdDevPop'
  | '$stdDevSamp'
  | '$abs'
  | '$ceil'
  | '$floor'
  | '$sqrt'
  | '$exp'
  | '$ln'
  | '$log10'
  | '$sin'
  | '$cos'
  | '$tan'
  | '$asin'
  | '$acos'
  | '$atan'
  | '$sinh'
  | '$cosh'
  | '$tanh'
  | '$asinh'
  | '$acosh'
  | '$atanh'
  | '$degreesToRadians'
  | '$radiansToDegrees'
  | '$bitNot'
  | '$round'
  | '$trunc'
  | '$not'
  | '$toLower'
  | '$toUpper'
  | '$strLenCP'
  | '$strLenBytes'
  | '$size'
  | '$isArray'
  | '$first'
  | '$last'
  | '$reverseArray'
  | '$allElementsTrue'
  | '$anyElementTrue'
  | '$objectToArray'
  | '$arrayToObject'
  | '$type'
  | '$isNumber'
  | '$toString'
  | '$toDouble'
  | '$toInt'
  | '$toLong'
  | '$toBool'
  | '$toDate';

type OfList =
  | '$substr'
  | '$substrCP'
  | '$substrBytes'
  | '$indexOfCP'
  | '$indexOfBytes'
  | '$indexOfArray'
  | '$slice'
  | '$range'
  | '$subtract'
  | '$divide'
  | '$mod'
  | '$log'
  | '$pow'
  | '$atan2'
  | '$eq'
  | '$ne'
  | '$gt'
  | '$gte'
  | '$lt'
  | '$lte'
  | '$cmp'
  | '$strcasecmp'
  | '$split'
  | '$in'
  | '$arrayElemAt'
  | '$setDifference'
  | '$setIsSubset';

/** Operators by name, with their operands; an expression has one of them. */
type ExpressionOperators = { readonly [Name in OfOne]?: Expression } & {
  readonly [Name in OfList]?: List;
} & {
  readonly [Name in DatePartName]?: Expression | Named<'date', 'timezone'>;
} & {
  readonly [Name in '$firstN' | '$lastN' | '$minN' | '$maxN']?: Named<'n' | 'input'>;
} & {
  readonly [Name in '$trim' | '$ltrim' | '$rtrim']?: Named<'input', 'chars'>;
} & {
  readonly [Name in '$replaceOne' | '$replaceAll']?: Named<'input' | 'find' | 'replacement'>;
} & { readonly [Name in '$regexMatch' | '$regexFind' | '$regexFindAll']?: RegexArguments } & {
  readonly [Name in '$dateAdd' | '$dateSubtract']?: Unit &
    Named<'startDate' | 'amount', 'timezone'>;
} & OtherOperators;

interface OtherOperators {
  /** The value as it is. */
  readonly $literal?: unknown;
  /** Names values for an expression: `{ vars: { total: … }, in: … '$$total' … }`. */
  readonly $let?: {
    readonly vars: Readonly<Record<string, Expression>>;
    readonly in: Expression;
  };
  readonly $cond?: List | Named<'if' | 'then' | 'else'>;
  readonly $switch?: {
    readonly branches: readonly Named<'case' | 'then'>[];
    readonly default?: Expression;
  };
  readonly $sortArray?: {
    readonly input: Expression;
    readonly sortBy: number | Readonly<Record<string, number>>;
  };
  readonly $zip?: {
    readonly inputs: readonly Expression[];
    readonly useLongestLength?: boolean;
    readonly defaults?: Expression;
  };
  /** `as` names the item, `$$this` without it. */
  readonly $map?: Named<'input' | 'in'> & { readonly as?: string };
  readonly $filter?: Named<'input' | 'cond', 'limit'> & { readonly as?: string };
  /** `in` sees `$$value` and `$$this`. */
  readonly $reduce?: Named<'input' | 'initialValue' | 'in'>;
  readonly $getField?: string | ExpressionOperators | Named<'field', 'input'>;
  readonly $setField?: Named<'field' | 'input' | 'value'>;
  readonly $unsetField?: Named<'field' | 'input'>;
  readonly $convert?: Named<'input' | 'to', 'onError' | 'onNull'>;
  readonly $dateTrunc?: Unit & Named<'date', 'binSize' | 'timezone' | 'startOfWeek'>;
  /** How many borders of the unit lie between two dates. */
  readonly $dateDiff?: Unit & Named<'startDate' | 'endDate', 'timezone' | 'startOfWeek'>;
  readonly $dateToString?: Named<'date', 'format' | 'timezone' | 'onNull'>;
  readonly $dateFromString?: Named<'dateString', 'format' | 'timezone' | 'onNull' | 'onError'>;
  readonly $dateToParts?: Named<'date', 'timezone'> & { readonly iso8601?: boolean };
  readonly $dateFromParts?:
    | Named<'year', 'month' | 'day' | Time>
    | Named<'isoWeekYear', 'isoWeek' | 'isoDayOfWeek' | Time>;
}

type SortBy = { readonly sortBy: Readonly<Record<string, number>> };

/**
 * What `$group` and its kin make of the documents of a group, such as `{ $sum: '$price' }`: one of
 * these.
 */
export interface AccumulatorExpression {
  readonly $sum?: Expression;
  readonly $avg?: Expression;
  readonly $min?: Expression;
  readonly $max?: Expression;
  readonly $count?: Readonly<Record<string, never>>;
  readonly $first?: Expression;
  readonly $last?: Expression;
  readonly $push?: Expression;
  /** The distinct values, in their order. */
  readonly $addToSet?: Expression;
  readonly $mergeObjects?: Expression;
  readonly $stdDevPop?: Expression;
  readonly $stdDevSamp?: Expression;
  readonly $firstN?: Named<'n' | 'input'>;
  readonly $lastN?: Named<'n' | 'input'>;
  readonly $minN?: Named<'n' | 'input'>;
  readonly $maxN?: Named<'n' | 'input'>;
  readonly $top?: SortBy & Named<'output'>;
  readonly $bottom?: SortBy & Named<'output'>;
  readonly $topN?: SortBy & Named<'n' | 'output'>;
  readonly $bottomN?: SortBy & Named<'n' | 'output'>;
}
