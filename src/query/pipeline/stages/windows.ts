import type { Coroutine } from '../../../async/coroutine.ts';
import { firstWhere } from '../../../codec/first-where.ts';
import type { CompiledAccumulator } from '../../expressions/accumulators/compile-accumulator.ts';
import { operandInvalid, placeBelow } from '../../query-errors.ts';
import { compileSort, type SortOrder } from '../../sort/compile-sort.ts';
import { orderIn } from '../../value/collation.ts';
import { compareScalars } from '../../value/compare-values.ts';
import { isFields } from '../../value/value-type.ts';
import type { PipelineRun } from '../run.ts';
import {
  type CompileStage,
  compileValue,
  type Documents,
  fieldName,
  fieldsOf,
  keepingStage,
  languageOf,
  type StageScope,
} from '../stage.ts';
import { withValue } from './shape.ts';
import { sortInSlices } from './sorting.ts';

/** The documents of a partition, in order. */
interface Partition {
  readonly documents: Documents;
  /** The sort key of each. */
  readonly keys: readonly unknown[];
  readonly run: PipelineRun;
}

/** Computes a field of all documents of a partition. */
type Compute = (partition: Partition) => readonly unknown[];

interface Output {
  readonly path: readonly string[];
  readonly compute: Compute;
}

/** `$setWindowFields`: adds what is computed of the documents around each. */
const setWindowFields: CompileStage = (operand, place, scope) => {
  const given = fieldsOf(operand, place, ['output'], ['partitionBy', 'sortBy']);
  const { partitionBy = null, sortBy, output } = given;
  const partition = compileValue(partitionBy, `${place}.partitionBy`, scope);
  const order =
    sortBy === undefined ? undefined : compileSort(sortBy, scope.collation, `${place}.sortBy`);
  if (!isFields(output)) throw operandInvalid(`${place}.output`, 'an object of fields', output);
  const outputs = Object.entries(output).map(([path, value]): Output => {
    const at = placeBelow(`${place}.output`, path);
    const segments = fieldName(path, at, true).split('.');
    return { path: segments, compute: compileOutput(value, at, order, scope) };
  });
  // It passes whole documents on.
  const stage = keepingStage(place, new Set(), false, function* (documents, run) {
    const partitions = new Map<unknown, { readonly value: unknown; readonly rows: object[] }>();
    const keyOf = languageOf().keysIn(scope.collation);
    for (const document of documents) {
      const value = partition.evaluate(document) ?? null;
      const key = keyOf(value);
      const found = partitions.get(key);
      if (found) found.rows.push(document);
      else partitions.set(key, { value, rows: [document] });
    }
    const compare = orderIn(scope.collation);
    const sorted = [...partitions.values()].sort((a, b) => compare(a.value, b.value));
    const made: object[][] = [];
    for (const { rows } of sorted) made.push(yield* computed(rows, order, outputs, run));
    return made.flat();
  });
  return [stage];
};

export const windowStages = { $setWindowFields: setWindowFields };

function* computed(
  documents: readonly object[],
  order: SortOrder | undefined,
  outputs: readonly Output[],
  run: PipelineRun,
): Coroutine<object[]> {
  const rows = documents.map((document) => ({ document, key: order?.keyOf(document) }));
  const sorted = order
    ? yield* sortInSlices(run, rows, (a, b) => order.compare(a.key, b.key))
    : rows;
  let made = sorted.map(({ document }) => document as Record<string, unknown>);
  const partition: Partition = { documents: made, keys: sorted.map(({ key }) => key), run };
  for (const { path, compute } of outputs) {
    const values = compute(partition);
    yield* run.breathe();
    made = made.map((document, at) => withValue(document, path, values[at] ?? null));
  }
  return made;
}

function compileOutput(
  given: unknown,
  place: string,
  order: SortOrder | undefined,
  scope: StageScope,
): Compute {
  if (!isFields(given)) throw operandInvalid(place, 'an object of one operator', given);
  const { window, ...operator } = given;
  const [[name, operand] = ['', undefined]] = Object.entries(operator);
  const at = placeBelow(place, name);
  const bounds = boundsOf(window, `${place}.window`, order);
  const compile = Object.hasOwn(ORDERED, name) ? ORDERED[name] : undefined;
  if (!compile) {
    const accumulator = Object.hasOwn(COVARIANCES, name)
      ? covariance(operand, at, scope, COVARIANCES[name] as number)
      : languageOf().compileAccumulator(operator, place, scope);
    return overWindow(accumulator, bounds, place);
  }
  if (!order) throw operandInvalid(at, 'used with sortBy', operand);
  const isGiven = window !== undefined;
  if (isGiven ? !MEASURES.includes(name) : name === MEASURES[0])
    throw operandInvalid(`${place}.window`, isGiven ? 'left out' : 'given', window);
  return compile(operand, at, scope, order, bounds);
}

/** Compiles an operator that looks at the order, or at neighbours in it. */
type CompileOrdered = (
  operand: unknown,
  place: string,
  scope: StageScope,
  order: SortOrder,
  bounds: Bounds,
) => Compute;

/** Those of a window; the first has no other. */
const MEASURES = ['$derivative', '$integral'];

const ORDERED: Readonly<Record<string, CompileOrdered>> = {
  $documentNumber: ranked((_, at) => at + 1),
  $rank: ranked((rank, at, isNew) => (isNew ? at + 1 : rank)),
  $denseRank: ranked((rank, _, isNew) => (isNew ? rank + 1 : rank)),
  $shift: (operand, place, scope) => {
    const given = fieldsOf(operand, place, ['output', 'by'], ['default']);
    const { evaluate } = compileValue(given.output, `${place}.output`, scope);
    const rest = compileValue(given.default ?? null, `${place}.default`, scope).evaluate({});
    if (!Number.isSafeInteger(given.by))
      throw operandInvalid(`${place}.by`, 'a whole number', given.by);
    const by = given.by as number;
    return ({ documents }) =>
      documents.map((_, at) => {
        const other = documents[at + by];
        return other ? evaluate(other) : rest;
      });
  },
  $locf: (operand, place, scope) => {
    const { evaluate } = compileValue(operand, place, scope);
    return ({ documents }) => {
      let last: unknown = null;
      return documents.map((document) => {
        last = evaluate(document) ?? last;
        return last;
      });
    };
  },
  $linearFill: (operand, place, scope, order) => {
    const { evaluate } = compileValue(operand, place, scope);
    return ({ documents, keys }) => {
      const axis = axisOf(keys, keys[0] instanceof Date, place, order);
      const filled = documents.map((document) => evaluate(document) ?? null);
      let from = -1;
      for (const [at, value] of filled.entries()) {
        if (at > 0 && axis[at] === axis[at - 1])
          throw operandInvalid(place, 'used with no value of sortBy twice', keys[at]);
        if (value === null) continue;
        const height = numberOf(value, place);
        if (from >= 0) {
          const [start, first] = [axis[from] as number, Number(filled[from])];
          const slope = (height - first) / ((axis[at] as number) - start);
          for (let gap = from + 1; gap < at; gap++)
            filled[gap] = first + ((axis[gap] as number) - start) * slope;
        }
        from = at;
      }
      return filled;
    };
  },
  $expMovingAvg: (operand, place, scope) => {
    const given = fieldsOf(operand, place, ['input'], ['N', 'alpha']);
    const { evaluate } = compileValue(given.input, `${place}.input`, scope);
    const alpha = given.N === undefined ? given.alpha : 2 / ((given.N as number) + 1);
    if (typeof alpha !== 'number' || !(alpha > 0 && alpha < 1))
      throw operandInvalid(place, 'given N from 2, or alpha between 0 and 1', operand);
    return ({ documents }) => {
      let mean: number | null = null;
      return documents.map((document) => {
        const value = evaluate(document);
        if (isNumber(value))
          mean = mean === null ? Number(value) : Number(value) * alpha + mean * (1 - alpha);
        return mean;
      });
    };
  },
  $derivative: (operand, place, scope, order, bounds) => {
    const { evaluate, unit } = measured(operand, place, scope);
    return (partition) => {
      const axis = axisOf(partition.keys, unit !== undefined, place, order);
      const read = (at: number) =>
        numberOf(evaluate(partition.documents[at] as object), `${place}.input`);
      return axis.map((_, at) => {
        const [from, to] = bounds(partition, at);
        const run = from < to ? (axis[to - 1] as number) - (axis[from] as number) : 0;
        return run === 0 ? null : ((read(to - 1) - read(from)) / run) * (unit ?? 1);
      });
    };
  },
  $integral: (operand, place, scope, order, bounds) => {
    const { evaluate, unit } = measured(operand, place, scope);
    const sum = languageOf().compileAccumulator({ $sum: 1 }, place, scope);
    return (partition) => {
      const axis = axisOf(partition.keys, unit !== undefined, place, order);
      const heights = partition.documents.map((one) => numberOf(evaluate(one), `${place}.input`));
      // Each is the trapezoid between a document and the one before.
      const areas = heights.map((height, at) => {
        const [x, before] = [axis[at - 1], heights[at - 1]];
        if (x === undefined || before === undefined) return 0;
        return ((height + before) * ((axis[at] as number) - x)) / 2;
      });
      const windows = areas.map((_, at) => bounds(partition, at));
      const inside = windows.map(([from, to]) => [Math.min(from + 1, to), to] as const);
      return slide(partition, areas, sum, inside, place).map((area, at) => {
        const [from, to] = windows[at] as Window;
        return from < to ? Number(area) / (unit ?? 1) : null;
      });
    };
  },
};

function ranked(next: (rank: number, at: number, isNew: boolean) => number): CompileOrdered {
  return (operand, place, _, order) => {
    fieldsOf(operand, place, []);
    return ({ keys }) => {
      let rank = 0;
      return keys.map((key, at) => {
        rank = next(rank, at, at === 0 || order.compare(keys[at - 1], key) !== 0);
        return rank;
      });
    };
  };
}

const WEEK = 604_800_000;

/** The input of a measure, and the milliseconds of its unit. */
function measured(operand: unknown, place: string, scope: StageScope) {
  const given = fieldsOf(operand, place, ['input'], ['unit']);
  const { evaluate } = compileValue(given.input, `${place}.input`, scope);
  const unit =
    given.unit === undefined
      ? undefined
      : Number(languageOf().dateShift(given.unit, place)(new Date(0), 1));
  if (unit && unit > WEEK) throw operandInvalid(`${place}.unit`, 'a week or less', given.unit);
  return { evaluate, unit };
}

/** Sort keys as numbers. */
function axisOf(
  keys: readonly unknown[],
  hasDates: boolean,
  place: string,
  { fields }: SortOrder,
): readonly number[] {
  if (fields.length > 1)
    throw operandInvalid(place, 'used with one field of sortBy', fields.length);
  return keys.map((key) => {
    if (hasDates ? key instanceof Date : isNumber(key)) return Number(key);
    throw operandInvalid(place, hasDates ? 'used with dates' : 'used with numbers, or a unit', key);
  });
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function numberOf(value: unknown, place: string): number {
  if (isNumber(value)) return Number(value);
  throw operandInvalid(place, 'a number', value);
}

/** How much smaller than the number of documents what covariances are divided by is. */
const COVARIANCES: Readonly<Record<string, number>> = { $covariancePop: 0, $covarianceSamp: 1 };

type Windowed = Pick<CompiledAccumulator, 'input' | 'make' | 'makeInvertible' | 'grows'>;

/** Of pairs of numbers; those that are not finite make the result alone. */
function covariance(operand: unknown, place: string, scope: StageScope, spare: number): Windowed {
  if (!Array.isArray(operand) || operand.length !== 2)
    throw operandInvalid(place, 'a list of two expressions', operand);
  const [x, y] = operand.map((one, at) => compileValue(one, `${place}[${at}]`, scope).evaluate);
  const state = (name: string) =>
    languageOf()
      .compileAccumulator({ [name]: 1 }, place, scope)
      .make();
  const make = () => {
    const [meanX, meanY, products] = [state('$avg'), state('$avg'), state('$sum')];
    let count = -spare;
    return {
      add(pair: unknown) {
        const [a, b] = pair as [unknown, unknown];
        if (!isNumber(a) || !isNumber(b)) return;
        const [left, right] = [Number(a), Number(b)];
        const strange = [left, right].filter((one) => !Number.isFinite(one));
        if (strange.length > 0) return products.add(strange.reduce((sum, one) => sum + one));
        count++;
        const distance = left - Number(meanX.result());
        meanX.add(left);
        meanY.add(right);
        products.add(distance * (right - Number(meanY.result())));
      },
      result: () => (count <= 0 ? null : Number(products.result()) / count),
    };
  };
  const input = (document: unknown) => [x?.(document as object), y?.(document as object)];
  return { input, make, makeInvertible: undefined, grows: false };
}

/** Where a window begins, and before which place it ends. */
type Window = readonly [from: number, to: number];

type Bounds = (partition: Partition, at: number) => Window;

function overWindow(accumulator: Windowed, bounds: Bounds, place: string): Compute {
  return (partition) => {
    const values = partition.documents.map(accumulator.input);
    const windows = values.map((_, at) => bounds(partition, at));
    return slide(partition, values, accumulator, windows, place);
  };
}

function slide(
  { run }: Partition,
  values: readonly unknown[],
  { make, makeInvertible, grows }: Omit<Windowed, 'input'>,
  windows: readonly Window[],
  place: string,
): unknown[] {
  let kept = makeInvertible?.();
  let [start, end] = [0, 0];
  let state = kept ?? make();
  return windows.map(([from, to]) => {
    // A window that does not begin where the last one did, of a state that gives nothing back.
    if (from < start || to < end || (from > start && !kept)) {
      kept = makeInvertible?.();
      state = kept ?? make();
      start = from;
      end = from;
    }
    for (; start < from; start++) if (start < end) kept?.remove(values[start], start);
    end = Math.max(end, start);
    for (; end < to; end++) state.add(values[end], end);
    const result = state.result();
    if (grows) run.keep([result], place);
    return result;
  });
}

function boundsOf(given: unknown, place: string, order: SortOrder | undefined): Bounds {
  if (given === undefined) return ({ documents }) => [0, documents.length];
  const { documents, range, unit } = fieldsOf(given, place, [], ['documents', 'range', 'unit']);
  if ((documents === undefined) === (range === undefined))
    throw operandInvalid(place, '{ documents } or { range, unit? }', given);
  if (!order) throw operandInvalid(place, 'used with sortBy', given);
  const at = documents === undefined ? `${place}.range` : `${place}.documents`;
  const [lower, upper] = pairOf(documents ?? range, at);
  if (documents !== undefined) {
    if (![lower, upper].every((bound) => Number.isInteger(bound) || Math.abs(bound) === ENDLESS))
      throw operandInvalid(at, 'of whole numbers', documents);
    return ({ keys: { length } }, index) => {
      const inside = (place: number) => Math.min(Math.max(place, 0), length);
      return [inside(index + lower), inside(index + upper + 1)];
    };
  }
  const [field, ...more] = order.fields;
  if (more.length > 0 || field?.direction !== 1)
    throw operandInvalid(at, 'used with one ascending field of sortBy', range);
  const step = unit === undefined ? undefined : languageOf().dateShift(unit, place);
  return ({ keys }, index) => {
    const key = keys[index];
    const shifted = (by: number) => {
      if (step && key instanceof Date) return step(key, by);
      if (!step && typeof key === 'number') return key + by;
      throw operandInvalid(at, step ? 'used with dates' : 'used with numbers, or a unit', key);
    };
    const from = lower === -ENDLESS ? 0 : firstAt(keys, shifted(lower), 0);
    const to = upper === ENDLESS ? keys.length : firstAt(keys, shifted(upper), 1);
    return [from, Math.max(from, to)];
  };
}

/** The place of the first key that is not less, or that is greater. */
function firstAt(keys: readonly unknown[], key: unknown, least: 0 | 1): number {
  return firstWhere(0, keys.length, (at) => Math.sign(compareScalars(keys[at], key)) >= least);
}

const ENDLESS = Number.POSITIVE_INFINITY;

function pairOf(given: unknown, place: string): readonly [lower: number, upper: number] {
  const pair: readonly unknown[] = Array.isArray(given) ? given : [];
  const [lower, upper] = pair.map((bound, at) => {
    if (bound === 'unbounded') return at === 0 ? -ENDLESS : ENDLESS;
    return bound === 'current' ? 0 : bound;
  });
  if (typeof lower === 'number' && typeof upper === 'number' && pair.length === 2 && lower <= upper)
    return [lower, upper];
  throw operandInvalid(
    place,
    '[lower, upper] of numbers, "current" and "unbounded", the lower first',
    given,
  );
}
