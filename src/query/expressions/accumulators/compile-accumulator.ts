import { operandInvalid, operatorUnknown, placeBelow } from '../../query-errors.ts';
import { compileSort } from '../../sort/compile-sort.ts';
import { orderIn } from '../../value/collation.ts';
import type { Compare } from '../../value/compare-values.ts';
import { isFields } from '../../value/value-type.ts';
import { keysIn } from '../collated-keys.ts';
import { type CompiledExpression, compileExpression } from '../compile-expression.ts';
import { type Evaluate, type ExpressionSettings, namedOperands } from '../operator.ts';
import { Average, averageOf, ExactSum, SumStates } from './exact-sum.ts';
import {
  BY_RANK,
  descending,
  fewOf,
  type InvertibleAccumulator,
  isThere,
  Ordered,
} from './ordered.ts';
import {
  type Accumulator,
  Count,
  Deviation,
  Distinct,
  Extreme,
  First,
  Last,
  Merged,
  Pushed,
  StateList,
  type States,
} from './states.ts';

/**
 * A compiled accumulator. For each document of a group, `state.add(input(document), rank)`.
 *
 * @example
 * ```ts
 * const { input, make } = compileAccumulator({ $sum: '$n' }, 'pipeline[0].$group.n', { now: 0 });
 * const state = make();
 * for (const document of group) state.add(input(document));
 * state.result();
 * ```
 */
export interface CompiledAccumulator {
  /** The value of a document. */
  readonly input: Evaluate;
  /** First segments of the paths that `input` reads, as of an expression. */
  readonly roots: ReadonlySet<string>;
  /** Whether a state keeps values of many documents: its memory has to be bounded. */
  readonly grows: boolean;
  /**
   * The state of a new group.
   *
   * @param key The `_id` of the group, which `n` of `$topN` and its kin may depend on.
   * @throws {CriteriaError} `operand_invalid`
   */
  readonly make: (key?: unknown) => Accumulator;
  /** Those of many new groups. */
  readonly makeAll: () => States;
  /** The same for groups that documents leave too; `undefined` where there is none. */
  readonly makeInvertible: ((key?: unknown) => InvertibleAccumulator) | undefined;
}

type Compiler = (
  operand: unknown,
  place: string,
  compile: Compile,
  collation: string | undefined,
) => Compiled;

type Compiled = Pick<CompiledAccumulator, 'make'> &
  Partial<CompiledAccumulator> & { readonly input: Evaluate };

type Compile = (expression: unknown, place: string) => CompiledExpression;

const ONE = () => 1;

const of =
  (make: (place: string) => Accumulator, rest: Partial<CompiledAccumulator> = {}): Compiler =>
  (operand, place, compile) => ({
    ...rest,
    input: compile(operand, place).evaluate,
    make: () => make(place),
  });

/** The same, of one that compares values. */
const inOrder =
  (compilerIn: (compare: Compare, collation: string | undefined) => Compiler): Compiler =>
  (operand, place, compile, collation) =>
    compilerIn(orderIn(collation), collation)(operand, place, compile, collation);

const isGiven = (value: unknown) => value !== undefined;

/** The state of a group from which documents leave. */
const ordered =
  (
    compare: Compare,
    accepts: (value: unknown) => boolean,
    read: (ordered: Ordered) => unknown,
  ): CompiledAccumulator['makeInvertible'] =>
  () =>
    new Ordered(compare, accepts, read);

/** The first of all, or the last. */
const only = (atEnd: boolean) => (ordered: Ordered) => ordered.few(1, atEnd)[0] ?? null;

const accumulators: Readonly<Record<string, Compiler>> = {
  $sum: of(() => new ExactSum(), {
    makeAll: () => new SumStates((sum) => sum),
    makeInvertible: () => new ExactSum(),
  }),
  $avg: of(() => new Average(), {
    makeAll: () => new SumStates(averageOf),
    makeInvertible: () => new Average(),
  }),
  $min: extreme(-1),
  $max: extreme(1),
  $first: of(() => new First(), { makeInvertible: ordered(BY_RANK, () => true, only(false)) }),
  $last: of(() => new Last(), { makeInvertible: ordered(BY_RANK, () => true, only(true)) }),
  $push: of(() => new Pushed(), {
    grows: true,
    makeInvertible: ordered(BY_RANK, isGiven, (all) => all.few(Number.POSITIVE_INFINITY, false)),
  }),
  $addToSet: inOrder((compare, collation) =>
    of(() => new Distinct(keysIn(collation), compare), {
      grows: true,
      makeInvertible: ordered(compare, isGiven, (all) => all.distinct()),
    }),
  ),
  $mergeObjects: of((place) => new Merged(place), { grows: true }),
  $stdDevPop: of(() => new Deviation(0)),
  $stdDevSamp: of(() => new Deviation(1)),
  $count: (operand, place) => {
    if (!isFields(operand) || Object.keys(operand).length > 0)
      throw operandInvalid(place, '{}', operand);
    const make = () => new Count();
    return { input: ONE, make, makeInvertible: make };
  },
  $firstN: ofInput(undefined, false),
  $lastN: ofInput(undefined, true),
  $minN: inOrder((compare) => ofInput(compare, false)),
  $maxN: inOrder((compare) => ofInput(descending(compare), false)),
  $top: ofOutput(false, false),
  $bottom: ofOutput(true, false),
  $topN: ofOutput(false, true),
  $bottomN: ofOutput(true, true),
};

function extreme(sign: 1 | -1): Compiler {
  return inOrder((compare) =>
    of(() => new Extreme(sign, compare), {
      makeInvertible: ordered(sign < 0 ? compare : descending(compare), isThere, only(false)),
    }),
  );
}

/**
 * Compiles an accumulator of `$group` and its kin, such as `{ $sum: '$price' }`.
 *
 * https://www.mongodb.com/docs/manual/reference/operator/aggregation/#accumulators---group---bucket---bucketauto---setwindowfields-
 *
 * @param place Where it stands, such as `pipeline[2].$group.total`.
 * @throws {CriteriaError} naming the place
 */
export function compileAccumulator(
  accumulator: unknown,
  place: string,
  settings: ExpressionSettings,
): CompiledAccumulator {
  const [entry, ...more] = isFields(accumulator) ? Object.entries(accumulator) : [];
  if (!entry || more.length > 0)
    throw operandInvalid(place, 'one accumulator, such as { $sum: "$price" }', accumulator);
  const [name, operand] = entry;
  const at = placeBelow(place, name);
  const compiler = Object.hasOwn(accumulators, name) ? accumulators[name] : undefined;
  if (!compiler) throw operatorUnknown(at, name, Object.keys(accumulators), undefined);
  const roots = new Set<string>();
  const compile: Compile = (expression, where) => {
    const one = compileExpression(expression, where, settings);
    for (const root of one.roots) roots.add(root);
    return one;
  };
  const compiled = compiler(operand, at, compile, settings.collation);
  const makeAll = () => new StateList(compiled.make);
  return { roots, grows: false, makeAll, makeInvertible: undefined, ...compiled };
}

/** `$firstN` and its kin: of `minN` and `maxN` null and missing values are left out. */
function ofInput(compare: Compare | undefined, atEnd: boolean): Compiler {
  return (operand, place, compile) => {
    const given = namedOperands(operand, place, ['input', 'n']);
    const { evaluate } = compile(given.input, `${place}.input`);
    const count = countOf(given.n, `${place}.n`, compile);
    const input: Evaluate = (document) => evaluate(document) ?? null;
    return {
      input,
      grows: true,
      make: (key) => fewOf(compare, atEnd, count(key)),
      makeInvertible: (key) => fewOf(compare, atEnd, count(key), Number.POSITIVE_INFINITY),
    };
  };
}

/** `$top` and its kin: the values of documents in an order of their own. */
function ofOutput(atEnd: boolean, isMany: boolean): Compiler {
  return (operand, place, compile, collation) => {
    const given = namedOperands(operand, place, ['sortBy', 'output', ...(isMany ? ['n'] : [])]);
    const { keyOf, roots, compare } = compileSort(given.sortBy, collation, `${place}.sortBy`);
    const { evaluate } = compile(given.output, `${place}.output`);
    for (const root of roots) compile(`$${root}`, place);
    const count = isMany ? countOf(given.n, `${place}.n`, compile) : ONE;
    const input: Evaluate = (document): Sorted => ({
      key: keyOf(document as object),
      value: evaluate(document) ?? null,
    });
    const byKey: Compare = (a, b) => compare((a as Sorted).key, (b as Sorted).key);
    const shown = (few: unknown[]) => {
      const values = few.map((one) => (one as Sorted).value);
      return isMany ? values : (values[0] ?? null);
    };
    const made = (key: unknown, isLive: boolean) => {
      const n = count(key);
      const read = (all: Ordered) => shown(all.few(n, atEnd));
      return new Ordered(byKey, isThere, read, isLive ? Number.POSITIVE_INFINITY : n, atEnd);
    };
    return {
      input,
      grows: isMany,
      make: (key) => made(key, false),
      makeInvertible: (key) => made(key, true),
    };
  };
}

interface Sorted {
  readonly key: unknown;
  readonly value: unknown;
}

/** How many values a group keeps, by its key. */
function countOf(n: unknown, place: string, compile: Compile): (key: unknown) => number {
  const { evaluate } = compile(n, place);
  return (key) => {
    const count = evaluate(isFields(key) ? key : {});
    if (Number.isSafeInteger(count) && (count as number) > 0) return count as number;
    throw operandInvalid(place, 'a whole number from 1', count);
  };
}
