import { type Coroutine, outcome, type Result } from '../../../async/coroutine.ts';
import { type CompileExpression, compileCriteria } from '../../criteria/compile-criteria.ts';
import { checkPath } from '../../path/own-property.ts';
import { operandInvalid } from '../../query-errors.ts';
import { isFields } from '../../value/value-type.ts';
import type { PipelineRun } from '../run.ts';
import {
  type CompileStage,
  type Documents,
  emit,
  fieldName,
  languageOf,
  NO_ROOTS,
  rowStage,
  type Sink,
  type StageScope,
} from '../stage.ts';

/** `$match`: keeps the documents that match criteria. */
const match: CompileStage = (operand, place, scope) => {
  const { test, roots } = compileCriteria(operand, scope.collation, expressionsOf(scope), place);
  return [rowStage(place, roots, false, (documents) => documents.filter(test))];
};

function expressionsOf({ now, variables, collation }: StageScope): CompileExpression {
  return (expression, place) =>
    languageOf().compileTest(expression, place, now, variables, collation);
}

/** `$limit`: the first documents. */
const limit: CompileStage = (operand, place) => {
  const most = countIn(operand, place, 1);
  const open = (_: unknown, next: Sink) => new FirstSink(most, next);
  return [{ place, roots: NO_ROOTS, isClosed: false, open }];
};

/** `$skip`: all documents but the first. */
const skip: CompileStage = (operand, place) => {
  const count = countIn(operand, place, 0);
  const open = (_: unknown, next: Sink): Sink => {
    let left = count;
    return {
      *take(documents) {
        const from = Math.min(left, documents.length);
        left -= from;
        if (from < documents.length) yield* outcome(next.take(documents.slice(from)));
      },
      end: () => next.end(),
      get isFull() {
        return next.isFull;
      },
    };
  };
  return [{ place, roots: NO_ROOTS, isClosed: false, open }];
};

/** `$count`: one document with their number, none where there are none. */
const count: CompileStage = (operand, place) => {
  const name = fieldName(operand, place);
  const open = (_: unknown, next: Sink): Sink => {
    let total = 0;
    return {
      isFull: false,
      take({ length }) {
        total += length;
      },
      *end() {
        if (total > 0) yield* outcome(next.take([{ [name]: total }]));
        yield* outcome(next.end());
      },
    };
  };
  return [{ place, roots: NO_ROOTS, isClosed: true, counts: name, open }];
};

class FirstSink implements Sink {
  #left: number;
  readonly #next: Sink;

  constructor(most: number, next: Sink) {
    this.#left = most;
    this.#next = next;
  }

  get isFull(): boolean {
    return this.#left === 0 || this.#next.isFull;
  }

  *take(documents: Documents): Coroutine<void> {
    const taken = documents.length > this.#left ? documents.slice(0, this.#left) : documents;
    this.#left -= taken.length;
    if (taken.length > 0) yield* outcome(this.#next.take(taken));
  }

  end(): Result<void> {
    return this.#next.end();
  }
}

export function countIn(operand: unknown, place: string, least: 0 | 1): number {
  if (Number.isSafeInteger(operand) && (operand as number) >= least) return operand as number;
  throw operandInvalid(place, `a whole number, ${least} or more`, operand);
}

/** What `distinct()` ends with: a document for each value at a path, of an array its items. */
export const distinct: CompileStage = (operand, place) => {
  const segments = checkPath(operand, 'operand_invalid', 'path');
  return [
    {
      ...{ place, roots: new Set([segments[0] as string]), isClosed: true },
      open: (run, next) => new DistinctSink(segments, run, next),
    },
  ];
};

class DistinctSink implements Sink {
  readonly isFull = false;
  readonly #segments: readonly string[];
  readonly #run: PipelineRun;
  readonly #next: Sink;
  readonly #values = new Map<unknown, unknown>();

  constructor(segments: readonly string[], run: PipelineRun, next: Sink) {
    this.#segments = segments;
    this.#run = run;
    this.#next = next;
  }

  take(documents: Documents): void {
    const { keyOf } = languageOf();
    const found: unknown[] = [];
    for (const document of documents) {
      for (const value of valuesAt(document, this.#segments, 0)) {
        const key = keyOf(value);
        if (this.#values.has(key)) continue;
        this.#values.set(key, value);
        found.push(value);
      }
    }
    this.#run.keep(found, 'distinct');
  }

  *end(): Coroutine<void> {
    const documents = function* (values: Iterable<unknown>) {
      for (const value of values) yield { value };
    };
    yield* emit(this.#run, documents(this.#values.values()), this.#next);
    yield* outcome(this.#next.end());
  }
}

export function* valuesAt(
  value: unknown,
  segments: readonly string[],
  level: number,
): Generator<unknown> {
  const segment = segments[level];
  if (segment === undefined) {
    if (Array.isArray(value)) yield* value;
    else if (value !== undefined) yield value;
  } else if (isFields(value)) {
    if (Object.hasOwn(value, segment)) yield* valuesAt(value[segment], segments, level + 1);
  } else if (Array.isArray(value)) {
    if (/^\d+$/.test(segment)) yield* valuesAt(value[Number(segment)], segments, level + 1);
    for (const item of value) if (isFields(item)) yield* valuesAt(item, segments, level);
  }
}

export const selectingStages = { $match: match, $limit: limit, $skip: skip, $count: count };
