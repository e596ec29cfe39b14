import { CriteriaError } from '../../errors/errors.ts';
import { operandInvalid, placeBelow } from '../query-errors.ts';
import { isFields, isRegExp } from '../value/value-type.ts';

/** The value of an expression for a document; `undefined` where it is missing. */
export type Evaluate = (document: unknown) => unknown;

/** The value of a variable: an expression is evaluated for one document at a time. */
export interface Variable {
  value: unknown;
  readonly isConstant?: boolean;
}

export type Variables = ReadonlyMap<string, Variable>;

/** What an expression may refer to. */
export interface Scope {
  readonly depth: number;
  /** Counts paths and variables, by which constant expressions have none. */
  readonly reads: { count: number };
  readonly variables: Variables;
  /** Collects the first segments of paths, `$$` where the whole document is read. */
  readonly roots: Set<string>;
  readonly compile: (expression: unknown, place: string, scope: Scope) => Evaluate;
}

const constants = new WeakSet<Evaluate>();

/** The evaluation of a value that is the same for all documents. */
export function constant(value: unknown): Evaluate {
  const evaluate = () => value;
  constants.add(evaluate);
  return evaluate;
}

/** Whether an expression has one value for all documents. */
export function isConstant(evaluate: Evaluate): boolean {
  return constants.has(evaluate);
}

/** Compiles an operator with its operand. */
export type ExpressionOperator = (operand: unknown, place: string, scope: Scope) => Evaluate;

/** A function of evaluated arguments. */
type OfArguments = (...values: never[]) => unknown;

/**
 * An operator over a list of arguments; a single one may stand by itself.
 *
 * @param make Makes the function, which knows its place for errors.
 */
export function ofArguments(
  least: number,
  most: number,
  make: (place: string) => OfArguments,
): ExpressionOperator {
  return (operand, place, scope) => {
    const args = argumentsOf(operand, place, scope, least, most);
    const apply = make(place) as (...values: unknown[]) => unknown;
    const [first, second, third] = args;
    if (args.length === 1 && first) return (document) => apply(first(document));
    if (args.length === 2 && first && second)
      return (document) => apply(first(document), second(document));
    if (args.length === 3 && first && second && third)
      return (document) => apply(first(document), second(document), third(document));
    return (document) => apply(...args.map((one) => one(document)));
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
  const count = least === most ? `${least}` : `${least} to ${most}`;
  const expected = most > 9 ? `at least ${least} arguments` : `${count} arguments`;
  throw operandInvalid(place, `a list of ${expected}`, operand);
}

/** Evaluated named arguments. */
type Named<Name extends string> = Readonly<Record<Name, unknown>>;

/** An operator over named arguments, such as `{ input, find }`. */
export function ofNamed<Name extends string>(
  required: readonly Name[],
  optional: readonly Name[],
  make: (place: string) => (values: Named<Name>) => unknown,
): ExpressionOperator {
  const names = [...required, ...optional];
  return (operand, place, scope) => {
    const given = namedOperands(operand, place, required, optional);
    const args = names.flatMap((name) =>
      name in given ? [[name, scope.compile(given[name], `${place}.${name}`, scope)] as const] : [],
    );
    const apply = make(place);
    return (document) => {
      const values = {} as Record<Name, unknown>;
      for (const [name, evaluate] of args) values[name] = evaluate(document);
      return apply(values);
    };
  };
}

/** Named arguments that are given. */
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

/** Whether a value is null or missing. */
export function isNullish(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** The error for a value of the wrong kind. */
export function wrongKind(place: string, wanted: string, value: unknown): CriteriaError {
  const kind = isNullish(value)
    ? 'null'
    : Array.isArray(value)
      ? 'an array'
      : isRegExp(value)
        ? 'a pattern'
        : value instanceof Date
          ? 'a date'
          : `a value of type ${typeof value}`;
  return new CriteriaError('operand_invalid', `'${place}' needs ${wanted}, and got ${kind}.`, {
    place,
  });
}

/**
 * A result that doubles with each step of `$reduce` would block the engine and exhaust its memory.
 *
 * @throws {CriteriaError} `operand_invalid`
 */
export function checkLength(length: number, most: number, place: string): void {
  if (length <= most) return;
  const message = `'${place}' makes ${length} items or characters; there may be ${most}.`;
  throw new CriteriaError('operand_invalid', message, { place });
}

/** @throws {CriteriaError} `operand_invalid` unless it is an array. */
export function itemsIn(value: unknown, place: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrongKind(place, 'an array', value);
  return value;
}

/** Truth as expressions see it: all but false, null, 0 and a missing value. */
export function isTrue(value: unknown): boolean {
  return !(value === false || isNullish(value) || value === 0 || value === 0n);
}

/** @throws {CriteriaError} `operand_invalid` unless it is a position in a list. */
export function indexIn(value: unknown, place: string): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw wrongKind(place, 'a whole number from 0', value);
}
