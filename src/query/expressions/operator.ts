import { CriteriaError } from '../../errors/errors.ts';
import { operandInvalid, placeBelow } from '../query-errors.ts';
import { type Compare, compareScalars } from '../value/compare-values.ts';
import { isFields } from '../value/value-type.ts';

/** The value of an expression for a document; `undefined` where it is missing. */
export type Evaluate = (document: unknown) => unknown;

/** The value of a variable: an expression is evaluated for one document at a time. */
export interface Variable {
  value: unknown;
  readonly isConstant?: boolean;
}

export type Variables = ReadonlyMap<string, Variable>;

/** What expressions are compiled with. */
export interface ExpressionSettings {
  /** The time that `$$NOW` stands for. */
  readonly now: number;
  /** Further ones, such as those of `let` of `$lookup`; their values may change. */
  readonly variables?: Variables | undefined;
  /** By which strings compare, as `parseCollation` writes it. */
  readonly collation?: string | undefined;
}

/** What an expression may refer to. */
export interface Scope {
  readonly depth: number;
  /** Counts paths and variables, by which constant expressions have none. */
  readonly reads: { count: number };
  readonly variables: Variables;
  /** Collects the first segments of paths, `$$` where the whole document is read. */
  readonly roots: Set<string>;
  /** That of the query, as `parseCollation` writes it, and its order of values. */
  readonly collation: string | undefined;
  readonly compare: Compare;
  readonly compile: (expression: unknown, place: string, scope: Scope) => Evaluate;
}

const constants = new WeakSet<Evaluate>();

/** The evaluation of a value that is the same for all documents. */
export function constant(value: unknown): Evaluate {
  const evaluate = () => value;
  constants.add(evaluate);
  return evaluate;
}

export function isConstant(evaluate: Evaluate): boolean {
  return constants.has(evaluate);
}

export type ExpressionOperator = (operand: unknown, place: string, scope: Scope) => Evaluate;

/** A function of evaluated arguments; it knows its place for errors, and the order of strings. */
type OfArguments = (
  place: string,
  a: unknown,
  b: unknown,
  c: unknown,
  d: unknown,
  scope: Scope,
) => unknown;

/** An operator over at most four arguments; a single one may stand by itself. */
export function ofArguments(
  least: number,
  most: number,
  compute: OfArguments,
  isNull: (value: unknown) => boolean = () => false,
): ExpressionOperator {
  return (operand, place, scope) => {
    const [a = NULL, b, c, d] = argumentsOf(operand, place, scope, least, most);
    if (!b)
      return (document) => {
        const one = a(document);
        return isNull(one) ? null : compute(place, one, undefined, undefined, undefined, scope);
      };
    return (document) => {
      const [one, two] = [a(document), b(document)];
      if (isNull(one) || isNull(two)) return null;
      return compute(place, one, two, c?.(document), d?.(document), scope);
    };
  };
}

/** The same, where null or a missing value among the first two arguments gives null. */
export function ofGiven(least: number, most: number, compute: OfArguments): ExpressionOperator {
  return ofArguments(least, most, compute, isNullish);
}

/** An operator over a list of any length. */
export function ofList(
  least: number,
  compute: (values: readonly unknown[], place: string, scope: Scope) => unknown,
): ExpressionOperator {
  return (operand, place, scope) => {
    const args = argumentsOf(operand, place, scope, least);
    return (document) =>
      compute(
        args.map((one) => one(document)),
        place,
        scope,
      );
  };
}

/** Compiles a list of arguments; a single one may stand by itself. */
export function argumentsOf(
  operand: unknown,
  place: string,
  scope: Scope,
  least = 0,
  most = Number.POSITIVE_INFINITY,
): Evaluate[] {
  if (!Array.isArray(operand) && least < 2) return [scope.compile(operand, place, scope)];
  if (Array.isArray(operand) && operand.length >= least && operand.length <= most)
    return operand.map((one, index) => scope.compile(one, placeBelow(place, index), scope));
  const count = most > 9 ? `at least ${least}` : least === most ? least : `${least} to ${most}`;
  throw operandInvalid(place, `a list of ${count} arguments`, operand);
}

export type Settings = Readonly<Record<string, unknown>>;

/**
 * An operator over inputs that differ by document, with settings that seldom do: constant ones are
 * prepared once, and refused when they are compiled. Null among the inputs gives `onNull`, or null
 * as it does among the settings.
 *
 * @param inputs Names of at most two arguments.
 * @param fallbacks Of `onNull` and `onError` those that there are.
 */
export function ofSettings(
  inputs: readonly string[],
  required: readonly string[],
  optional: readonly string[],
  prepare: (settings: Settings, place: string) => (first: unknown, second: unknown) => unknown,
  fallbacks: readonly string[] = [],
): ExpressionOperator {
  return (operand, place, scope) => {
    const all = [...inputs, ...required];
    const given = namedOperands(operand, place, all, [...optional, ...fallbacks]);
    const compiled = (name: string) => scope.compile(given[name], `${place}.${name}`, scope);
    const names = [...required, ...optional].filter((name) => name in given);
    const settings = names.map(compiled);
    const [first = NULL, second] = inputs.map(compiled);
    const onNull = 'onNull' in given ? compiled('onNull') : NULL;
    const onError = 'onError' in given ? compiled('onError') : undefined;
    const prepared = (document: unknown) => {
      const values = settings.map((one) => one(document));
      if (values.some(isNullish)) return NULL;
      return prepare(Object.fromEntries(names.map((name, at) => [name, values[at]])), place);
    };
    const once = settings.every(isConstant) ? prepared(undefined) : undefined;
    return (document) => {
      const one = first(document);
      const two = second?.(document);
      if ((isNullish(one) && inputs.length > 0) || (second && isNullish(two)))
        return onNull(document);
      const apply = once ?? prepared(document);
      if (!onError) return apply(one, two);
      try {
        return apply(one, two);
      } catch (error) {
        if (error instanceof CriteriaError) return onError(document);
        throw error;
      }
    };
  };
}

const NULL = () => null;

/** @throws {CriteriaError} `operand_invalid` unless the operand has these names. */
export function namedOperands(
  operand: unknown,
  place: string,
  required: readonly string[],
  optional: readonly string[] = [],
): Record<string, unknown> {
  const names = [...required, ...optional];
  const isValid =
    isFields(operand) &&
    required.every((name) => name in operand) &&
    Object.keys(operand).every((name) => names.includes(name));
  if (isValid) return operand;
  const shown = [...required, ...optional.map((name) => `${name}?`)].join(', ');
  throw operandInvalid(place, `{ ${shown} }`, operand);
}

/** Compiles named arguments, in the order of their names; one that is not given is missing. */
export function compileNamed(
  operand: unknown,
  place: string,
  scope: Scope,
  required: readonly string[],
  optional: readonly string[] = [],
): Evaluate[] {
  const given = namedOperands(operand, place, required, optional);
  return [...required, ...optional].map((name) =>
    scope.compile(given[name], `${place}.${name}`, scope),
  );
}

/** The scope within an operator that names values. */
export function withVariables(scope: Scope, variables: Readonly<Record<string, Variable>>): Scope {
  return { ...scope, variables: new Map([...scope.variables, ...Object.entries(variables)]) };
}

/** @throws {CriteriaError} `operand_invalid` unless it is the name of a variable. */
export function variableName(name: unknown, place: string): string {
  if (typeof name === 'string' && /^[a-z]\w*$/.test(name)) return name;
  throw operandInvalid(place, 'a name that begins with a small letter', name);
}

export function isNullish(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

export function wrongKind(place: string, wanted: string, value: unknown): CriteriaError {
  return operandInvalid(place, `given ${wanted}`, value);
}

/**
 * A result that doubles with each step of `$reduce` would block the engine and exhaust its memory.
 *
 * @throws {CriteriaError} `operand_invalid`
 */
export function checkLength(length: number, most: number, place: string): void {
  if (length > most) throw wrongKind(place, `at most ${most} items or steps`, length);
}

/** Steps of the loops of one expression for one document: about a second. */
const MOST_STEPS = 10_000_000;

let loops = 0;
let steps = 0;

/**
 * Runs a loop over the items of an array; null and missing give null. Loops within loops would
 * block the engine for hours, so their steps are counted, and in them those of other operators.
 *
 * @throws {CriteriaError} `operand_invalid`
 */
export function inLoop(
  value: unknown,
  place: string,
  run: (items: readonly unknown[]) => unknown,
): unknown {
  if (isNullish(value)) return null;
  if (loops++ === 0) steps = 0;
  try {
    return run(itemsIn(value, place));
  } finally {
    loops--;
  }
}

/**
 * Within a loop: an operator goes through so much by itself.
 *
 * @throws {CriteriaError} `operand_invalid`
 */
export function countSteps(count: number, place: string): void {
  if (loops === 0) return;
  steps += count;
  checkLength(steps, MOST_STEPS, place);
}

/** An array or a text of more is a mistake that would exhaust the memory. */
export const MOST_ITEMS = 1_000_000;

/** @throws {CriteriaError} `operand_invalid` unless a date can hold it. */
export function dateAt(time: number, place: string): Date {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) throw wrongKind(place, 'a result that a date can hold', time);
  return date;
}

/** @throws {CriteriaError} `operand_invalid` unless it is an array. */
export function itemsIn(value: unknown, place: string): readonly unknown[] {
  countItems(value, place);
  return listIn(value, place);
}

export function countItems(value: unknown, place: string): void {
  if (Array.isArray(value)) countSteps(value.length, place);
}

/** Of one array its items, of a list of arguments these. */
export function valuesIn(values: readonly unknown[], place: string): readonly unknown[] {
  const [only] = values;
  return values.length === 1 && Array.isArray(only) ? itemsIn(only, place) : values;
}

/** As {@link itemsIn}, for what looks at one item. */
export function listIn(value: unknown, place: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrongKind(place, 'an array', value);
  return value;
}

/** Truth as expressions see it: all but false, null, 0 and a missing value. */
export function isTrue(value: unknown): boolean {
  return !(value === false || isNullish(value) || value === 0 || value === 0n);
}

/** @throws {CriteriaError} `operand_invalid` unless it is a whole number, from the least one on. */
export function integerIn(value: unknown, place: string, least = -Infinity): number {
  if (Number.isSafeInteger(value) && (value as number) >= least) return value as number;
  throw wrongKind(place, `a whole number${least < 0 ? '' : ` from ${least}`}`, value);
}

/** The place of something in a list, within bounds that may be left out; -1 where it is not. */
export function indexOf(
  list: ArrayLike<unknown>,
  wanted: readonly unknown[],
  start: unknown,
  end: unknown,
  place: string,
  compare: Compare = compareScalars,
): number {
  const to = end === undefined ? list.length : Math.min(integerIn(end, place, 0), list.length);
  let at = start === undefined ? 0 : integerIn(start, place, 0);
  for (; at + wanted.length <= to; at++)
    if (wanted.every((one, offset) => compare(list[at + offset], one) === 0)) return at;
  return -1;
}
