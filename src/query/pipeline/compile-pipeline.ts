import { outcome } from '../../async/coroutine.ts';
import { lateStages } from '../criteria/late-operators.ts';
import { operandInvalid, operatorUnknown, placeBelow, unexpectedValue } from '../query-errors.ts';
import { isFields } from '../value/value-type.ts';
import type { PipelineRun } from './run.ts';
import {
  Collected,
  type CompileStage,
  compileValue,
  fieldName,
  fieldsOf,
  openStages,
  pathOf,
  rootsOf,
  type Sink,
  type Stage,
  type StageScope,
} from './stage.ts';
import { groupStages } from './stages/grouping.ts';
import { distinct, selectingStages, valuesAt } from './stages/selecting.ts';
import { shapingStages, withValue } from './stages/shape.ts';
import { isSort, sort, sortStage } from './stages/sorting.ts';
import { windowStages } from './stages/windows.ts';

const stages: Readonly<Record<string, CompileStage>> = {
  ...selectingStages,
  ...shapingStages,
  $sort: sort,
  ...groupStages,
  ...windowStages,
  $facet: facet,
};

/** Those of the part `relations`. */
const LATE = ['$lookup', '$unionWith'];

const kit = {
  ...{ Collected, compileValue, fieldName, fieldsOf, openStages, pathOf, valuesAt, withValue },
};

/** As many stages as MongoDB takes, those of inner pipelines included. */
const MOST_STAGES = 1000;

/** What the stages of `$facet` must not be. */
const NOT_IN_FACET = ['$facet'];

/** @throws {CriteriaError} naming the place, such as `pipeline[2].$group.total` */
export function compilePipeline(
  pipeline: unknown,
  { now, collation, foreign }: Pick<StageScope, 'now' | 'collation' | 'foreign'>,
): readonly CompiledStage[] {
  return compileAll(pipeline, 'pipeline', {
    ...{ now, collation, foreign, kit },
    count: { stages: 0 },
    compile: (inner, place, scope) => compileAll(inner, place, scope).flatMap(({ parts }) => parts),
  });
}

export interface CompiledStage {
  readonly name: string;
  readonly operand: unknown;
  /** What it is short for, or itself. */
  readonly parts: readonly Stage[];
}

function compileAll(pipeline: unknown, place: string, scope: StageScope): CompiledStage[] {
  if (!Array.isArray(pipeline))
    throw unexpectedValue('pipeline_invalid', place, 'a list of stages', pipeline);
  const compiled = pipeline.map((stage: unknown, index): CompiledStage => {
    const at = `${place}[${index}]`;
    if (++scope.count.stages > MOST_STAGES)
      throw unexpectedValue('pipeline_invalid', at, `one of at most ${MOST_STAGES} stages`, stage);
    const entries = isFields(stage) ? Object.entries(stage) : [];
    const [entry] = entries;
    if (!entry || entries.length > 1)
      throw unexpectedValue('pipeline_invalid', at, 'one stage, such as { $match: { … } }', stage);
    const [name, operand] = entry;
    const compile = compilerOf(name);
    const isMisplaced = scope.within === '$facet' && NOT_IN_FACET.includes(name);
    if (!compile || isMisplaced)
      throw operatorUnknown(
        `${at}.${name}`,
        name,
        [...Object.keys(stages), ...LATE],
        isMisplaced ? `it does not stand within ${scope.within}.` : undefined,
      );
    return { name, operand, parts: compile(operand, `${at}.${name}`, scope) };
  });
  return compiled.map((stage, index) => bounded(stage, compiled.slice(index + 1, index + 3)));
}

function compilerOf(name: string): CompileStage | undefined {
  if (name === 'distinct') return distinct;
  return Object.hasOwn(stages, name)
    ? stages[name]
    : (lateStages.get(name) as CompileStage | undefined);
}

/** A sort keeps no more than the `$limit` behind it lets through, perhaps after a `$skip`. */
function bounded(stage: CompiledStage, [next, after]: readonly CompiledStage[]): CompiledStage {
  const last = stage.parts.at(-1) as Stage;
  if (!isSort(last)) return stage;
  const skipped = next?.name === '$skip' ? (next.operand as number) : 0;
  const cut = skipped > 0 ? after : next;
  if (cut?.name !== '$limit') return stage;
  const most = skipped + (cut.operand as number);
  return { ...stage, parts: stage.parts.with(-1, sortStage(last.order, last.place, most)) };
}

/** `$facet`: one document with the results of several pipelines over the same input. */
function facet(operand: unknown, place: string, scope: StageScope): Stage[] {
  const entries = isFields(operand) ? Object.entries(operand) : [];
  if (entries.length === 0)
    throw operandInvalid(place, 'an object of at least one pipeline', operand);
  const pipelines = entries.map(([given, pipeline]) => {
    const at = placeBelow(place, given);
    const name = fieldName(given, at);
    return { name, at, stages: scope.compile(pipeline, at, { ...scope, within: '$facet' }) };
  });
  const roots = new Set<string>();
  for (const { stages } of pipelines)
    for (const root of rootsOf(stages) ?? ['_id']) roots.add(root);
  const open = (run: PipelineRun, next: Sink): Sink => {
    const facets = pipelines.map(({ name, at, stages }) => {
      const collected = new Collected(run, at);
      return { name, collected, sink: openStages(stages, run, collected) };
    });
    return {
      *take(documents) {
        for (const { sink } of facets) if (!sink.isFull) yield* outcome(sink.take(documents));
      },
      *end() {
        const result: Record<string, unknown> = {};
        for (const { name, collected, sink } of facets) {
          yield* outcome(sink.end());
          result[name] = collected.documents;
        }
        yield* outcome(next.take([result]));
        yield* outcome(next.end());
      },
      get isFull() {
        return facets.every(({ sink }) => sink.isFull);
      },
    };
  };
  return [{ place, roots, isClosed: true, open }];
}
