import type { Stage } from '../../query/pipeline/stage.ts';
import { type GroupStage, isGroup } from '../../query/pipeline/stages/grouping.ts';
import type { PipelineStart } from './source.ts';

type RowChange = NonNullable<Stage['change']>;

/** What a live pipeline keeps up to date by differences. */
export interface LivePlan {
  /** Before the groups, one document after another. */
  readonly rows: readonly RowChange[];
  readonly group: GroupStage;
  /** Run over the groups, each time. */
  readonly rest: readonly Stage[];
  /** How many stages that is, of those behind the query. */
  readonly kept: number;
}

/** How a pipeline is kept up to date; `undefined` where it has to run again. */
export function livePlanOf({ selection, stages }: PipelineStart): LivePlan | undefined {
  const { sort, skip, limit } = selection;
  const at = stages.findIndex(({ change }) => !change);
  const group = stages[at];
  if (sort || skip !== undefined || limit !== undefined || !group || !isGroup(group))
    return undefined;
  const isKept = group.fields.every(
    ({ accumulator, unit }) => unit !== undefined || accumulator.makeInvertible,
  );
  if (!isKept) return undefined;
  const rows = stages.slice(0, at).map(({ change }) => change as RowChange);
  return { rows, group, rest: stages.slice(at + 1), kept: at + 1 };
}
