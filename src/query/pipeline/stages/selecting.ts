import { outcome } from '../../../async/coroutine.ts';
import { type CompileExpression, compileCriteria } from '../../criteria/compile-criteria.ts';
import { checkPath } from '../../path/own-property.ts';
import { operandInvalid } from '../../query-errors.ts';
import { isFields } from '../../value/value-type.ts';
import type { PipelineRun } from '../run.ts';
import {
  type CompileStage,
  type Documents,
  fieldName,
  gathering,
  languageOf,
  NO_ROOTS,
  passing,
  rowStage,
  type Sink,
  type Stage,
  type StageScope,
} from '../stage.ts';

/** `$match`: keeps the documents that match criteria. */
const match: CompileStage = (operand, place, scope) => {
  const { test, roots } = compileCriteria(operand, scope.collation, expressionsOf(scope), place);
  return [rowStage(place, roots, false, (documents) => documents.filter(test))];
};

function expressionsOf(scope: StageScope): CompileExpression {
  return (expression, place) => languageOf().compileTest(expression, place, scope);
}

/** `$limit`: the first documents. */
const limit: CompileStage = (operand, place) => [cut(place, 0, countIn(operand, place, 1))];

/** `$skip`: all documents but the first. */
const skip: CompileStage = (operand, place) => [
  cut(place, countIn(operand, place, 0), Number.POSITIVE_INFINITY),
];

/** Passes on documents from one number, and before another. */
function cut(place: string, from: number, to: number): Stage {
  const open = (_: unknown, next: Sink): Sink => {
    let passed = 0;
    return passing(
      next,
      function* (documents) {
        const taken = documents.slice(Math.max(0, from - passed), Math.max(0, to - passed));
        passed += documents.length;
        if (taken.length > 0) yield* outcome(next.take(taken));
      },
      () => passed >= to,
    );
  };
  const between = { skip: from, limit: to - from };
  return { place, roots: NO_ROOTS, isClosed: false, cut: between, open };
}

/** `$count`: one document with their number, none where there are none. */
const count: CompileStage = (operand, place) => {
  const name = fieldName(operand, place);
  const open = (run: PipelineRun, next: Sink): Sink => {
    let total = 0;
    const take = (documents: Documents) => {
      total += documents.length;
    };
    return gathering(run, next, take, () => (total > 0 ? [{ [name]: total }] : []));
  };
  return [{ place, roots: NO_ROOTS, isClosed: true, counts: name, open }];
};

export function countIn(operand: unknown, place: string, least: 0 | 1): number {
  if (Number.isSafeInteger(operand) && (operand as number) >= least) return operand as number;
  throw operandInvalid(place, `a whole number, ${least} or more`, operand);
}

/** What `distinct()` ends with: a document for each value at a path, of an array its items. */
export const distinct: CompileStage = (operand, place, { collation }) => {
  const segments = checkPath(operand, 'operand_invalid', 'path');
  const open = (run: PipelineRun, next: Sink): Sink => {
    const made = new Map<unknown, { readonly value: unknown }>();
    const keyOf = languageOf().keysIn(collation);
    const take = (documents: Documents) => {
      const before = made.size;
      for (const document of documents)
        for (const value of valuesAt(document, segments, 0)) {
          const key = keyOf(value);
          if (!made.has(key)) made.set(key, { value });
        }
      run.keep([...made.values()].slice(before), 'distinct');
    };
    return gathering(run, next, take, () => made.values());
  };
  return [{ place, roots: new Set([segments[0] as string]), isClosed: true, open }];
};

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
