import { type Coroutine, outcome } from '../../../async/coroutine.ts';
import type { CompiledAccumulator } from '../../expressions/accumulators/compile-accumulator.ts';
import type { Accumulator } from '../../expressions/accumulators/states.ts';
import { operandInvalid, placeBelow, unexpectedValue } from '../../query-errors.ts';
import { compileSort } from '../../sort/compile-sort.ts';
import { compareScalars } from '../../value/compare-values.ts';
import { bracketOf, isFields } from '../../value/value-type.ts';
import type { PipelineRun } from '../run.ts';
import {
  type Block,
  type CompileStage,
  compileFields,
  compileValue,
  type Documents,
  emit,
  fieldName,
  fieldsOf,
  languageOf,
  pathOf,
  readerAt,
  type Sink,
  type Stage,
  type StageExpression,
  type StageScope,
} from '../stage.ts';
import { countIn } from './selecting.ts';
import { sortInSlices, sortStage } from './sorting.ts';

/** A field of groups. */
interface GroupField {
  readonly name: string;
  readonly place: string;
  readonly accumulator: CompiledAccumulator;
  /** Its input. */
  readonly read: (document: object) => unknown;
  /** The path that it reads, where it reads nothing else. */
  readonly path: string | undefined;
  /** What each document adds to it, where that is a whole number. */
  readonly unit: number | undefined;
}

/** A stage that makes groups. */
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
    open: (run, next) => new GroupSink(id, fields, place, run, next),
  };
}

function groupFields(
  output: Record<string, unknown>,
  place: string,
  { now, variables }: StageScope,
): GroupField[] {
  return Object.entries(output).map(([given, operand]) => {
    const at = placeBelow(place, given);
    const accumulator = languageOf().compileAccumulator(operand, at, now, variables);
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

class GroupSink implements Sink {
  readonly isFull = false;
  readonly #id: readonly StageExpression[];
  readonly #names: readonly string[] | undefined;
  readonly #fields: readonly GroupField[];
  readonly #place: string;
  readonly #run: PipelineRun;
  readonly #next: Sink;
  /** Of each part of the `_id` a level; the last has slots. */
  readonly #slots: SlotMap = new Map();
  readonly #ids: unknown[] = [];
  /** How many documents each group has. */
  readonly #counts: number[] = [];
  /** Of each field, by slot; empty for one that counts. */
  readonly #states: readonly Accumulator[][];
  /** The slot of each document of a batch. */
  #places = new Int32Array(0);

  constructor(
    id: StageExpression,
    fields: readonly GroupField[],
    place: string,
    run: PipelineRun,
    next: Sink,
  ) {
    this.#id = id.parts ?? [id];
    this.#names = id.parts?.map(({ name }) => name);
    this.#fields = fields;
    this.#place = place;
    this.#run = run;
    this.#next = next;
    this.#states = fields.map(() => []);
  }

  take(documents: Documents): void {
    this.takeBlock({ documents, from: 0, to: documents.length, column: () => undefined });
  }

  takeBlock(block: Block): void {
    const length = block.to - block.from;
    if (this.#places.length < length) this.#places = new Int32Array(length);
    const before = this.#ids.length;
    const ids = this.#id.map(({ evaluate, path }) => valuesOf(evaluate, path, block));
    const [only] = ids as [Values];
    if (ids.length === 1 && !this.#names) this.#find(only, length);
    else this.#findByParts(ids, length);
    this.#charge(before);
    for (const [index, { accumulator, path, place, read, unit }] of this.#fields.entries()) {
      if (unit !== undefined) continue;
      const { values, from } = valuesOf(read, path, block);
      if (accumulator.grows) this.#run.keep(values.slice(from, from + length), place);
      accumulator.addAll(this.#states[index] as Accumulator[], this.#places, values, from, length);
    }
  }

  *end(): Coroutine<void> {
    yield* emit(this.#run, this.#groups(), this.#next);
    yield* outcome(this.#next.end());
  }

  *#groups(): Generator<object> {
    for (let slot = 0; slot < this.#ids.length; slot++) {
      const made: Record<string, unknown> = { _id: this.#ids[slot] };
      for (const [index, { name, unit }] of this.#fields.entries())
        made[name] =
          unit === undefined
            ? (this.#states[index] as Accumulator[])[slot]?.result()
            : unit * (this.#counts[slot] as number);
      yield made;
    }
  }

  /** Finds the group of each document. */
  #find({ values, from }: Values, length: number): void {
    const slots = this.#slots;
    const counts = this.#counts;
    const places = this.#places;
    const { keyOf } = languageOf();
    for (let at = 0; at < length; at++) {
      const value = values[from + at];
      const key =
        typeof value === 'string' && value.charCodeAt(0) !== 0 ? value : keyOf(value ?? null);
      const slot = slots.get(key) as number | undefined;
      const found = slot === undefined ? this.#open(slots, key, value ?? null) : slot;
      (counts[found] as number)++;
      places[at] = found;
    }
  }

  /** The same for an `_id` of several parts, without an object for each document. */
  #findByParts(parts: readonly Values[], length: number): void {
    const { keyOf } = languageOf();
    const last = parts.length - 1;
    for (let at = 0; at < length; at++) {
      let slots = this.#slots;
      for (let part = 0; part < last; part++) {
        const { values, from } = parts[part] as Values;
        const key = keyOf(values[from + at]);
        const below = (slots.get(key) ?? new Map()) as SlotMap;
        if (below.size === 0) slots.set(key, below);
        slots = below;
      }
      const { values, from } = parts[last] as Values;
      const key = keyOf(values[from + at]);
      const slot = slots.get(key) as number | undefined;
      const found = slot === undefined ? this.#open(slots, key, this.#idAt(parts, at)) : slot;
      (this.#counts[found] as number)++;
      this.#places[at] = found;
    }
  }

  #idAt(parts: readonly Values[], at: number): object {
    const id: Record<string, unknown> = {};
    for (const [index, { values, from }] of parts.entries()) {
      const value = values[from + at];
      if (value !== undefined) id[(this.#names as string[])[index] as string] = value;
    }
    return id;
  }

  #open(slots: SlotMap, key: unknown, id: unknown): number {
    const slot = this.#ids.push(id) - 1;
    this.#counts.push(0);
    slots.set(key, slot);
    for (const [index, { accumulator, unit }] of this.#fields.entries())
      if (unit === undefined) (this.#states[index] as Accumulator[]).push(accumulator.make(id));
    return slot;
  }

  #charge(before: number): void {
    const made = this.#ids.length - before;
    if (made === 0) return;
    this.#run.keep(this.#ids.slice(before), this.#place);
    this.#run.charge(made * (GROUP_SIZE + this.#fields.length * STATE_SIZE), this.#place);
  }
}

type SlotMap = Map<unknown, SlotMap | number>;

/** The values of a batch, from an index on. */
interface Values {
  readonly values: readonly unknown[];
  readonly from: number;
}

function valuesOf(
  evaluate: (document: object) => unknown,
  path: string | undefined,
  { documents, from, to, column }: Block,
): Values {
  const found = path === undefined ? undefined : column(path);
  // An array on the way has to be followed.
  const isPlain = found && (!path?.includes('.') || !found.slice(from, to).some(Array.isArray));
  if (isPlain) return { values: found, from };
  const values = new Array<unknown>(to - from);
  for (let at = from; at < to; at++) values[at - from] = evaluate(documents[at] as object);
  return { values, from: 0 };
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
  const bounds = boundsIn(boundaries, `${place}.boundaries`, (one, at) =>
    compileValue(one, at, scope).evaluate({}),
  );
  const hasRest = 'default' in given;
  const rest = compileValue(given.default, `${place}.default`, scope).evaluate({});
  const [first, last] = [bounds[0], bounds.at(-1)];
  const isInside = compareScalars(rest, first) >= 0 && compareScalars(rest, last) < 0;
  if (hasRest && isInside) throw operandInvalid(`${place}.default`, 'outside the boundaries', rest);
  const bucketOf = (document: object): unknown => {
    const value = evaluate(document);
    const at = bounds.findLastIndex((bound) => compareScalars(bound, value) <= 0);
    if (at >= 0 && at < bounds.length - 1) return bounds[at];
    if (hasRest) return rest;
    throw operandInvalid(place, 'given a default, as a value lies outside the boundaries', value);
  };
  const id: StageExpression = { evaluate: bucketOf, roots, path: undefined };
  return [
    groupStage(id, outputOf(output, place), `${place}.output`, scope),
    sortStage(compileSort({ _id: 1 }), place, Number.POSITIVE_INFINITY),
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
  read: (bound: unknown, at: string) => unknown,
): readonly unknown[] {
  if (!Array.isArray(boundaries) || boundaries.length < 2)
    throw operandInvalid(place, 'a list of at least two values', boundaries);
  const bounds = boundaries.map((bound, index) => read(bound, `${place}[${index}]`));
  for (const [index, bound] of bounds.entries()) {
    if (index === 0) continue;
    const before = bounds[index - 1];
    if (bracketOf(bound) !== bracketOf(before) || compareScalars(before, bound) >= 0)
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
  const most = countIn(buckets, `${place}.buckets`, 1);
  const fields = groupFields(outputOf(output, place), `${place}.output`, scope);
  const rounding =
    granularity === undefined ? undefined : roundingOf(granularity, `${place}.granularity`);
  const roots = new Set(read);
  for (const { accumulator } of fields) for (const root of accumulator.roots) roots.add(root);
  const rules = { evaluate, most, fields, rounding, place };
  const open = (run: PipelineRun, next: Sink) => new AutoSink(rules, run, next);
  return [{ place, roots, isClosed: true, open }];
};

interface AutoRules {
  readonly evaluate: (document: object) => unknown;
  readonly most: number;
  readonly fields: readonly GroupField[];
  readonly rounding: ReturnType<typeof roundingOf> | undefined;
  readonly place: string;
}

interface Placed {
  readonly value: unknown;
  readonly at: number;
  readonly document: object;
}

class AutoSink implements Sink {
  readonly isFull = false;
  readonly #rules: AutoRules;
  readonly #run: PipelineRun;
  readonly #next: Sink;
  #placed: Placed[] = [];

  constructor(rules: AutoRules, run: PipelineRun, next: Sink) {
    this.#rules = rules;
    this.#run = run;
    this.#next = next;
  }

  take(documents: Documents): void {
    const { evaluate, rounding, place } = this.#rules;
    this.#run.keep(documents, place);
    for (const document of documents) {
      const value = evaluate(document) ?? null;
      if (rounding && !(typeof value === 'number' && value >= 0))
        throw operandInvalid(`${place}.groupBy`, 'a number from 0, with a granularity', value);
      this.#placed.push({ value, at: this.#placed.length, document });
    }
  }

  *end(): Coroutine<void> {
    const sorted = yield* sortInSlices(
      this.#run,
      this.#placed,
      (a, b) => compareScalars(a.value, b.value) || a.at - b.at,
    );
    this.#placed = [];
    yield* emit(this.#run, this.#buckets(sorted), this.#next);
    yield* outcome(this.#next.end());
  }

  *#buckets(sorted: readonly Placed[]): Generator<object> {
    const { most, rounding, fields } = this.#rules;
    const size = Math.max(1, Math.round(sorted.length / most));
    let from = 0;
    let min = rounding?.down(sorted[0]?.value as number) ?? sorted[0]?.value;
    for (let number = 1; from < sorted.length; number++) {
      let to = number === most ? sorted.length : Math.min(from + size, sorted.length);
      const last = () => (sorted[to - 1] as Placed).value;
      let max: unknown;
      if (rounding) {
        max = rounding.up(last() as number);
        while (to < sorted.length && ((sorted[to] as Placed).value as number) < (max as number))
          to++;
      } else {
        while (to < sorted.length && compareScalars((sorted[to] as Placed).value, last()) === 0)
          to++;
        max = to < sorted.length ? (sorted[to] as Placed).value : last();
      }
      const states: Accumulator[] = fields.map(({ accumulator }) => accumulator.make({ min, max }));
      for (; from < to; from++)
        for (const [index, { accumulator }] of fields.entries())
          states[index]?.add(accumulator.input((sorted[from] as Placed).document));
      const made: Record<string, unknown> = { _id: { min, max } };
      for (const [index, { name }] of fields.entries()) made[name] = states[index]?.result();
      yield made;
      min = max;
    }
  }
}

/** The series R20 of Renard, times 100; each second number is R10, and so on. */
const RENARD = [
  100, 112, 125, 140, 160, 180, 200, 224, 250, 280, 315, 355, 400, 450, 500, 560, 630, 710, 800,
  900,
];

/** The series E24, times 10. */
const COARSE = [
  10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91,
];

/** The series E192, times 100; the standard has 920 where 919 would be. */
const fine = () =>
  Array.from({ length: 192 }, (_, at) => Math.round(100 * 10 ** (at / 192)) + Number(at === 185));

const each = (step: number, series: readonly number[]) => series.filter((_, at) => at % step === 0);

const SERIES: Readonly<Record<string, () => readonly number[]>> = {
  R5: () => each(4, RENARD),
  R10: () => each(2, RENARD),
  R20: () => RENARD,
  '1-2-5': () => [1, 2, 5],
  E6: () => each(4, COARSE),
  E12: () => each(2, COARSE),
  E24: () => COARSE,
  E48: () => each(4, fine()),
  E96: () => each(2, fine()),
  E192: fine,
  POWERSOF2: () => [],
};

/** Rounds to the next number of a series that is greater, or less. */
interface Rounding {
  readonly up: (value: number) => number;
  readonly down: (value: number) => number;
}

/** The rounding of a `granularity`. @throws {CriteriaError} `operand_invalid` */
function roundingOf(name: unknown, place: string): Rounding {
  const series =
    typeof name === 'string' && Object.hasOwn(SERIES, name) ? SERIES[name]?.() : undefined;
  if (!series)
    throw unexpectedValue(
      'operand_invalid',
      place,
      `one of ${Object.keys(SERIES).join(', ')}`,
      name,
    );
  if (series.length === 0)
    return {
      up: (value) => (value === 0 ? 0 : 2 ** (Math.floor(Math.log2(value)) + 1)),
      down: (value) => (value === 0 ? 0 : 2 ** (Math.ceil(Math.log2(value)) - 1)),
    };
  const around = (value: number) => {
    const power = Math.floor(Math.log10(value / (series[0] as number)));
    return [power - 1, power, power + 1].flatMap((one) =>
      series.map((number) => scaled(number, one)),
    );
  };
  return {
    up: (value) => (value === 0 ? 0 : (around(value).find((one) => one > value) as number)),
    down: (value) => (value === 0 ? 0 : (around(value).findLast((one) => one < value) as number)),
  };
}

/** By its decimal text: 16 * 0.1 is not 1.6. */
function scaled(number: number, power: number): number {
  return Number(`${number}e${power}`);
}

export const groupStages = {
  $group: group,
  $sortByCount: sortByCount,
  $bucket: bucket,
  $bucketAuto: bucketAuto,
};
