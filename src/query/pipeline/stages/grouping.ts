import type { CompiledAccumulator } from '../../expressions/accumulators/compile-accumulator.ts';
import type { Block } from '../../expressions/id-part.ts';
import { operandInvalid, placeBelow } from '../../query-errors.ts';
import { compileSort } from '../../sort/compile-sort.ts';
import { orderIn } from '../../value/collation.ts';
import type { Compare } from '../../value/compare-values.ts';
import { bracketOf, isFields } from '../../value/value-type.ts';
import type { PipelineRun } from '../run.ts';
import {
  type CompileStage,
  compileFields,
  compileValue,
  type Documents,
  fieldName,
  fieldsOf,
  gathering,
  keepingStage,
  languageOf,
  pathOf,
  readerAt,
  rowsOf,
  type Sink,
  type Stage,
  type StageExpression,
  type StageScope,
} from '../stage.ts';
import { countIn } from './selecting.ts';
import { sortInSlices, sortStage } from './sorting.ts';

interface GroupField {
  readonly name: string;
  readonly place: string;
  readonly accumulator: CompiledAccumulator;
  readonly read: (document: object) => unknown;
  /** The path that it reads, where it reads nothing else. */
  readonly path: string | undefined;
  /** What each document adds to it, where that is a whole number. */
  readonly unit: number | undefined;
}

export interface GroupStage extends Stage {
  readonly id: StageExpression;
  readonly fields: readonly GroupField[];
}

export function isGroup(stage: Stage | undefined): stage is GroupStage {
  return stage !== undefined && 'fields' in stage;
}

/** `$group`: one document for each value of `_id`, in the order of the first document of each. */
const group: CompileStage = (operand, place, scope) => {
  if (!isFields(operand)) throw operandInvalid(place, 'an object { _id, … }', operand);
  if (!('_id' in operand))
    throw operandInvalid(`${place}._id`, 'given: null makes one group of all', undefined);
  const { _id, ...output } = operand;
  return [groupStage(compileFields(_id, `${place}._id`, scope), output, place, scope)];
};

/** @param output Accumulators by name. */
function groupStage(
  id: StageExpression,
  output: Record<string, unknown>,
  place: string,
  scope: StageScope,
): GroupStage {
  const fields = groupFields(output, place, scope);
  const roots = new Set(id.roots);
  for (const { accumulator } of fields) for (const root of accumulator.roots) roots.add(root);
  return {
    ...{ place, roots, isClosed: true, id, fields },
    open: (run, next) => groupSink(id, fields, place, scope.collation, run, next),
  };
}

function groupFields(
  output: Record<string, unknown>,
  place: string,
  scope: StageScope,
): GroupField[] {
  return Object.entries(output).map(([given, operand]) => {
    const at = placeBelow(place, given);
    const accumulator = languageOf().compileAccumulator(operand, at, scope);
    const [[operator, value]] = Object.entries(operand as object) as [[string, unknown]];
    const counted = operator === '$count' ? 1 : operator === '$sum' ? value : undefined;
    const unit = Number.isSafeInteger(counted) ? (counted as number) : undefined;
    const path = pathOf(value);
    const read = readerAt(path, accumulator.input);
    return { name: fieldName(given, at), place: at, accumulator, read, path, unit };
  });
}

/** Bytes of a group besides its values. */
const GROUP_SIZE = 100;
const STATE_SIZE = 100;

function groupSink(
  { parts, ...whole }: StageExpression,
  fields: readonly GroupField[],
  place: string,
  collation: string | undefined,
  run: PipelineRun,
  next: Sink,
): Sink {
  const { IdPart } = languageOf();
  const all = (parts ?? [whole]).map((one) => new IdPart(one, !parts, collation));
  const ids: unknown[] = [];
  /** How many documents each group has. */
  const counts: number[] = [];
  /** Of each field; `undefined` for one that counts. */
  const states = fields.map(({ accumulator, unit }) =>
    unit === undefined ? accumulator.makeAll() : undefined,
  );
  /** Groups by the numbers of the values of several parts: of each a level. */
  const root: GroupMap = new Map();
  /** The group of each document of a block. */
  let groups: Int32Array = new Int32Array(0);

  const open = (id: unknown): number => {
    counts.push(0);
    for (const state of states) state?.open(id);
    return ids.push(id) - 1;
  };

  /** Finds the groups by several parts, without an object for each document. */
  const findByParts = (block: Block): void => {
    const numbers = all.map((part) => part.read(block));
    if (groups.length < block.length) groups = new Int32Array(block.length);
    for (let at = 0; at < block.length; at++) {
      let known = root;
      for (let part = 0; part < numbers.length - 1; part++) {
        const number = numbers[part]?.[at] as number;
        const below = (known.get(number) ?? new Map()) as GroupMap;
        if (below.size === 0) known.set(number, below);
        known = below;
      }
      const last = numbers.at(-1)?.[at] as number;
      const group =
        (known.get(last) as number | undefined) ??
        open(idOf(block.documents[block.rows[at] as number] as object));
      known.set(last, group);
      groups[at] = group;
    }
  };

  /** That of its first document: equal values of parts may look different. */
  const idOf = (document: object): object => {
    const id: Record<string, unknown> = {};
    for (const { name, evaluate } of parts ?? []) {
      const value = evaluate(document);
      if (value !== undefined) id[name] = value;
    }
    return id;
  };

  const takeBlock = (block: Block): void => {
    const { length } = block;
    const before = ids.length;
    if (parts) findByParts(block);
    else {
      const [first] = all as [InstanceType<typeof IdPart>];
      groups = first.read(block);
      for (const id of first.values.slice(before)) open(id);
    }
    for (let at = 0; at < length; at++) (counts[groups[at] as number] as number)++;
    const made = ids.length - before;
    if (made > 0) {
      run.keep(ids.slice(before), place);
      run.charge(made * (GROUP_SIZE + fields.length * STATE_SIZE), place);
    }
    for (const [index, { accumulator, path, place: at, read }] of fields.entries()) {
      const state = states[index];
      if (!state) continue;
      const { values, rows } = valuesOf(read, path, block);
      const given = () => Array.from(rows.subarray(0, length), (row) => values[row]);
      if (accumulator.grows) run.keep(given(), at);
      state.addAll(groups, values, rows, length);
    }
  };

  function* made(): Generator<object> {
    for (const [group, _id] of ids.entries()) {
      const made: Record<string, unknown> = { _id };
      for (const [index, { name, unit = 1 }] of fields.entries()) {
        const state = states[index];
        made[name] = state ? state.result(group) : unit * (counts[group] as number);
      }
      yield made;
    }
  }

  const take = (documents: Documents) => {
    const { length } = documents;
    takeBlock({ documents, rows: rowsOf(length), length, column: () => undefined });
  };
  return { ...gathering(run, next, take, made), takeBlock };
}

type GroupMap = Map<number, GroupMap | number>;

/** The values of a block, and where they stand. */
interface Values {
  readonly values: readonly unknown[];
  readonly rows: Int32Array;
}

function valuesOf(
  evaluate: (document: object) => unknown,
  path: string | undefined,
  { documents, rows, length, column }: Block,
): Values {
  const found = path === undefined ? undefined : column(path);
  if (found && (!path?.includes('.') || !hasArray(found, rows, length)))
    return { values: found, rows };
  const values = new Array<unknown>(length);
  for (let at = 0; at < length; at++)
    values[at] = evaluate(documents[rows[at] as number] as object);
  return { values, rows: rowsOf(length) };
}

/** Whether an array is on the way, which has to be followed. */
function hasArray(values: readonly unknown[], rows: Int32Array, length: number): boolean {
  for (let at = 0; at < length; at++) if (Array.isArray(values[rows[at] as number])) return true;
  return false;
}

const COUNTED = { count: { $sum: 1 } };

/** `$sortByCount`: the values of an expression with their numbers, the most frequent first. */
const sortByCount: CompileStage = (operand, place, scope) => [
  groupStage(compileValue(operand, place, scope), COUNTED, place, scope),
  sortStage(compileSort({ count: -1 }), place, Number.POSITIVE_INFINITY),
];

/** `$bucket`: groups by boundaries. */
const bucket: CompileStage = (operand, place, scope) => {
  const given = fieldsOf(operand, place, ['groupBy', 'boundaries'], ['default', 'output']);
  const { groupBy, boundaries, output } = given;
  const { evaluate, roots } = compileValue(groupBy, `${place}.groupBy`, scope);
  const compare = orderIn(scope.collation);
  const bounds = boundsIn(boundaries, `${place}.boundaries`, compare, (one, at) =>
    compileValue(one, at, scope).evaluate({}),
  );
  const hasRest = 'default' in given;
  const rest = compileValue(given.default, `${place}.default`, scope).evaluate({});
  const [first, last] = [bounds[0], bounds.at(-1)];
  const isInside = compare(rest, first) >= 0 && compare(rest, last) < 0;
  if (hasRest && isInside) throw operandInvalid(`${place}.default`, 'outside the boundaries', rest);
  const bucketOf = (document: object): unknown => {
    const value = evaluate(document);
    const at = bounds.findLastIndex((bound) => compare(bound, value) <= 0);
    if (at >= 0 && at < bounds.length - 1) return bounds[at];
    if (hasRest) return rest;
    throw operandInvalid(place, 'given a default, as a value lies outside the boundaries', value);
  };
  const id: StageExpression = { evaluate: bucketOf, roots, path: undefined };
  return [
    groupStage(id, outputOf(output, place), `${place}.output`, scope),
    sortStage(compileSort({ _id: 1 }, scope.collation), place, Number.POSITIVE_INFINITY),
  ];
};

function outputOf(output: unknown, place: string): Record<string, unknown> {
  if (output === undefined) return COUNTED;
  if (isFields(output)) return output;
  throw operandInvalid(`${place}.output`, 'an object of accumulators', output);
}

function boundsIn(
  boundaries: unknown,
  place: string,
  compare: Compare,
  read: (bound: unknown, at: string) => unknown,
): readonly unknown[] {
  if (!Array.isArray(boundaries) || boundaries.length < 2)
    throw operandInvalid(place, 'a list of at least two values', boundaries);
  const bounds = boundaries.map((bound, index) => read(bound, `${place}[${index}]`));
  for (const [index, bound] of bounds.entries()) {
    if (index === 0) continue;
    const before = bounds[index - 1];
    if (bracketOf(bound) !== bracketOf(before) || compare(before, bound) >= 0)
      throw operandInvalid(
        `${place}[${index}]`,
        'of one kind with those before, and greater',
        bound,
      );
  }
  return bounds;
}

/** `$bucketAuto`: groups of about the same size. */
const bucketAuto: CompileStage = (operand, place, scope) => {
  const { groupBy, buckets, output, granularity } = fieldsOf(
    operand,
    place,
    ['groupBy', 'buckets'],
    ['output', 'granularity'],
  );
  const { evaluate, roots: read } = compileValue(groupBy, `${place}.groupBy`, scope);
  const compare = orderIn(scope.collation);
  const most = countIn(buckets, `${place}.buckets`, 1);
  const fields = groupFields(outputOf(output, place), `${place}.output`, scope);
  const rounding =
    granularity === undefined ? undefined : roundingOf(granularity, `${place}.granularity`);
  const roots = new Set(read);
  for (const { accumulator } of fields) for (const root of accumulator.roots) roots.add(root);
  return [
    keepingStage(place, roots, true, function* (documents, run) {
      const placed = documents.map((document): Placed => {
        const value = evaluate(document) ?? null;
        if (rounding && !(typeof value === 'number' && value >= 0))
          throw operandInvalid(`${place}.groupBy`, 'a number from 0, with a granularity', value);
        return { value, document };
      });
      const sorted = yield* sortInSlices(run, placed, (a, b) => compare(a.value, b.value));
      return bucketsOf(sorted, most, fields, compare, rounding);
    }),
  ];
};

interface Placed {
  readonly value: unknown;
  readonly document: object;
}

function* bucketsOf(
  sorted: readonly Placed[],
  most: number,
  fields: readonly GroupField[],
  compare: Compare,
  rounding: Rounding | undefined,
): Generator<object> {
  const { length } = sorted;
  const valueAt = (at: number) => sorted[at]?.value;
  const size = Math.max(1, Math.round(length / most));
  let from = 0;
  let min = rounding?.(valueAt(0) as number, false) ?? valueAt(0);
  for (let number = 1; from < length; number++) {
    let to = number === most ? length : Math.min(from + size, length);
    const last = valueAt(to - 1);
    const limit = rounding?.(last as number, true);
    while (
      to < length &&
      (limit === undefined ? compare(valueAt(to), last) === 0 : (valueAt(to) as number) < limit)
    )
      to++;
    const max = limit ?? (to < length ? valueAt(to) : last);
    const made: Record<string, unknown> = { _id: { min, max } };
    for (const { name, accumulator } of fields) {
      const state = accumulator.make({ min, max });
      for (const { document } of sorted.slice(from, to)) state.add(accumulator.input(document));
      made[name] = state.result();
    }
    yield made;
    from = to;
    min = max;
  }
}

/** The steps of the series R40 of Renard, times 100. */
const STEPS = [
  6, 6, 6, 7, 7, 8, 10, 10, 10, 10, 10, 10, 12, 12, 12, 14, 15, 15, 20, 15, 20, 20, 20, 25, 25, 25,
  25, 25, 30, 30, 40, 30, 40, 40, 40, 50, 50, 50, 50,
];

/** R40; each second number is R20, and so on. */
function renard(): readonly number[] {
  const series = [100];
  for (const step of STEPS) series.push((series.at(-1) as number) + step);
  return series;
}

/** The means of neighbours in it that are not between them. */
const UNEVEN: Readonly<Record<number, number>> = { 121: 122, 257: 258, 580: 575 };

/** The numbers between them, which are all that the server has of R80. */
const between = () =>
  renard().map((number, at, all) => {
    const mean = (number + (all[at + 1] ?? 1000)) >> 1;
    return UNEVEN[mean] ?? mean;
  });

/** The series E24, times 10. */
const COARSE = [
  10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91,
];

/** The series E192, times 100; the standard has 920 where 919 would be. */
const fine = () =>
  Array.from({ length: 192 }, (_, at) => Math.round(100 * 10 ** (at / 192)) + Number(at === 185));

const each = (step: number, series: readonly number[]) => series.filter((_, at) => at % step === 0);

const SERIES: Readonly<Record<string, () => readonly number[]>> = {
  R5: () => each(8, renard()),
  R10: () => each(4, renard()),
  R20: () => each(2, renard()),
  // The server lacks 335.
  R40: () => renard().filter((number) => number !== 335),
  R80: between,
  '1-2-5': () => [1, 2, 5],
  E6: () => each(4, COARSE),
  E12: () => each(2, COARSE),
  E24: () => COARSE,
  E48: () => each(4, fine()),
  E96: () => each(2, fine()),
  E192: fine,
  POWERSOF2: () => [1],
};

/** Rounds to the next number of a series that is greater, or less. */
type Rounding = (value: number, isUp: boolean) => number;

/** The rounding of a `granularity`. @throws {CriteriaError} `operand_invalid` */
function roundingOf(name: unknown, place: string): Rounding {
  const series =
    typeof name === 'string' && Object.hasOwn(SERIES, name) ? SERIES[name]?.() : undefined;
  if (!series) throw operandInvalid(place, `one of ${Object.keys(SERIES).join(', ')}`, name);
  const isBinary = series.length === 1;
  return (value, isUp) => {
    const decade = Math.floor(Math[isBinary ? 'log2' : 'log10'](value / (series[0] as number)));
    // Decimals by their text: 16 * 0.1 is not 1.6.
    const around = [-1, 0, 1].flatMap((step) =>
      series.map((number) =>
        isBinary ? 2 ** (decade + step) : Number(`${number}e${decade + step}`),
      ),
    );
    const next = isUp ? around.find((one) => one > value) : around.findLast((one) => one < value);
    return next ?? 0;
  };
}

export const groupStages = {
  $group: group,
  $sortByCount: sortByCount,
  $bucket: bucket,
  $bucketAuto: bucketAuto,
};
