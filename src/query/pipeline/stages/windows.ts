import { type Coroutine, outcome } from '../../../async/coroutine.ts';
import type { CompiledAccumulator } from '../../expressions/accumulators/compile-accumulator.ts';
import { operandInvalid, placeBelow } from '../../query-errors.ts';
import { compileSort, type SortOrder } from '../../sort/compile-sort.ts';
import { compareScalars } from '../../value/compare-values.ts';
import { isFields } from '../../value/value-type.ts';
import type { PipelineRun } from '../run.ts';
import {
  type CompileStage,
  compileValue,
  type Documents,
  emit,
  fieldName,
  fieldsOf,
  languageOf,
  type Sink,
  type StageScope,
} from '../stage.ts';
import { withValue } from './shape.ts';
import { sortInSlices } from './sorting.ts';

/** The documents of a partition, in order. */
interface Partition {
  readonly documents: Documents;
  /** The sort key of each. */
  readonly keys: readonly unknown[];
  readonly order: SortOrder | undefined;
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
  const rules = { partition: partition.evaluate, order, outputs, place };
  const open = (run: PipelineRun, next: Sink) => new WindowSink(rules, run, next);
  // It passes whole documents on.
  return [{ place, roots: new Set(), isClosed: false, open }];
};

export const windowStages = { $setWindowFields: setWindowFields };

interface WindowRules {
  readonly partition: (document: object) => unknown;
  readonly order: SortOrder | undefined;
  readonly outputs: readonly Output[];
  readonly place: string;
}

class WindowSink implements Sink {
  readonly isFull = false;
  readonly #rules: WindowRules;
  readonly #run: PipelineRun;
  readonly #next: Sink;
  readonly #partitions = new Map<
    unknown,
    { readonly value: unknown; readonly documents: object[] }
  >();

  constructor(rules: WindowRules, run: PipelineRun, next: Sink) {
    this.#rules = rules;
    this.#run = run;
    this.#next = next;
  }

  take(documents: Documents): void {
    const { partition, place } = this.#rules;
    const { keyOf } = languageOf();
    this.#run.keep(documents, place);
    for (const document of documents) {
      const value = partition(document) ?? null;
      const key = keyOf(value);
      const found = this.#partitions.get(key);
      if (found) found.documents.push(document);
      else this.#partitions.set(key, { value, documents: [document] });
    }
  }

  *end(): Coroutine<void> {
    const partitions = [...this.#partitions.values()];
    partitions.sort((a, b) => compareScalars(a.value, b.value));
    for (const { documents } of partitions) {
      if (this.#next.isFull) break;
      yield* emit(this.#run, yield* this.#made(documents), this.#next);
    }
    yield* outcome(this.#next.end());
  }

  *#made(documents: readonly object[]): Coroutine<object[]> {
    const { order, outputs } = this.#rules;
    const rows = documents.map((document, at) => ({ document, at, key: order?.keyOf(document) }));
    const sorted = order
      ? yield* sortInSlices(this.#run, rows, (a, b) => order.compare(a.key, b.key) || a.at - b.at)
      : rows;
    const partition: Partition = {
      documents: sorted.map(({ document }) => document),
      keys: sorted.map(({ key }) => key),
      order,
      run: this.#run,
    };
    let made = partition.documents as readonly Record<string, unknown>[];
    for (const { path, compute } of outputs) {
      const values = compute(partition);
      yield* this.#run.breathe();
      made = made.map((document, at) => withValue(document, path, values[at] ?? null));
    }
    return made as object[];
  }
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
  const ranked = Object.hasOwn(RANKED, name) ? RANKED[name] : undefined;
  if (!ranked) return overWindow(operator, window, place, order, scope);
  const at = placeBelow(place, name);
  if (window !== undefined) throw operandInvalid(`${place}.window`, 'left out', window);
  if (!order) throw operandInvalid(at, 'used with sortBy', operand);
  return ranked(operand, at, scope);
}

/** Operators that look at the order alone, or at neighbours in it. */
const RANKED: Readonly<
  Record<string, (operand: unknown, place: string, scope: StageScope) => Compute>
> = {
  $documentNumber: (operand, place) => {
    fieldsOf(operand, place, []);
    return ({ documents }) => documents.map((_, at) => at + 1);
  },
  $rank: (operand, place) => {
    fieldsOf(operand, place, []);
    return (partition) => {
      let rank = 0;
      return partition.documents.map((_, at) => {
        if (isNew(partition, at)) rank = at + 1;
        return rank;
      });
    };
  },
  $denseRank: (operand, place) => {
    fieldsOf(operand, place, []);
    return (partition) => {
      let rank = 0;
      return partition.documents.map((_, at) => {
        if (isNew(partition, at)) rank++;
        return rank;
      });
    };
  },
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
        if (typeof value === 'number' || typeof value === 'bigint')
          mean = mean === null ? Number(value) : Number(value) * alpha + mean * (1 - alpha);
        return mean;
      });
    };
  },
};

function isNew({ keys, order }: Partition, at: number): boolean {
  return at === 0 || (order as SortOrder).compare(keys[at - 1], keys[at]) !== 0;
}

/** Where the window of each document begins, and before which place it ends. */
type Bounds = (partition: Partition, at: number) => readonly [from: number, to: number];

function overWindow(
  operator: object,
  window: unknown,
  place: string,
  order: SortOrder | undefined,
  { now, variables }: StageScope,
): Compute {
  const accumulator = languageOf().compileAccumulator(operator, place, now, variables);
  const bounds = boundsOf(window, `${place}.window`, order);
  return (partition) => slide(partition, accumulator, bounds, place);
}

function slide(
  partition: Partition,
  { input, make, makeInvertible, grows }: CompiledAccumulator,
  bounds: Bounds,
  place: string,
): unknown[] {
  const values = partition.documents.map(input);
  let kept = makeInvertible?.();
  let [start, end] = [0, 0];
  let state = kept ?? make();
  return values.map((_, at) => {
    const [from, to] = bounds(partition, at);
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
    if (grows) partition.run.keep([result], place);
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
  const [lower, upper] = pairOf(documents ?? range, at, documents !== undefined);
  if (documents !== undefined)
    return ({ documents: all }, index) => [
      Math.min(Math.max(lower === undefined ? 0 : index + lower, 0), all.length),
      Math.min(Math.max(upper === undefined ? all.length : index + upper + 1, 0), all.length),
    ];
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
    const from = lower === undefined ? 0 : firstAt(keys, shifted(lower), 0);
    const to = upper === undefined ? keys.length : firstAt(keys, shifted(upper), 1);
    return [from, Math.max(from, to)];
  };
}

/** The place of the first key that is not less, or that is greater. */
function firstAt(keys: readonly unknown[], key: unknown, least: 0 | 1): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Math.sign(compareScalars(keys[middle], key)) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

function pairOf(
  given: unknown,
  place: string,
  isWhole: boolean,
): readonly [lower: number | undefined, upper: number | undefined] {
  const read = (bound: unknown) => {
    if (bound === 'unbounded') return undefined;
    if (bound === 'current') return 0;
    if (isWhole ? Number.isSafeInteger(bound) : Number.isFinite(bound)) return bound as number;
    throw operandInvalid(place, '[lower, upper] of numbers, "current" and "unbounded"', given);
  };
  const pair: readonly unknown[] = Array.isArray(given) ? given : [];
  const [lower, upper] = [read(pair[0]), read(pair[1])];
  if (
    pair.length !== 2 ||
    (lower ?? Number.NEGATIVE_INFINITY) > (upper ?? Number.POSITIVE_INFINITY)
  )
    throw operandInvalid(place, '[lower, upper], the lower first', given);
  return [lower, upper];
}
