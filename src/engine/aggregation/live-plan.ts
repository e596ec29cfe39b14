import type { Stage } from '../../query/pipeline/stage.ts';
import { type GroupStage, isGroup } from '../../query/pipeline/stages/grouping.ts';
import { isSort } from '../../query/pipeline/stages/sorting.ts';
import type { SortOrder } from '../../query/sort/compile-sort.ts';
import type { PipelineStart } from './source.ts';

type RowChange = NonNullable<Stage['change']>;

/** What a live pipeline keeps up to date by differences. */
export interface LivePlan {
  /** Before the groups, one document after another. */
  readonly rows: readonly RowChange[];
  readonly group: GroupStage;
  /** What each group becomes: before it is sorted, and after that. */
  readonly before: readonly RowChange[];
  readonly order: SortOrder | undefined;
  readonly after: readonly RowChange[];
  /** Which of them are shown, by their places. */
  readonly from: number;
  readonly to: number;
  /** Run over those that are shown, each time. */
  readonly rest: readonly Stage[];
  /** How many stages are kept so, of those behind the query. */
  readonly kept: number;
}

/** How a pipeline is kept up to date; `undefined` where it has to run again. */
export function livePlanOf({ selection, stages }: PipelineStart): LivePlan | undefined {
  const { sort, skip, limit } = selection;
  if (sort || skip !== undefined || limit !== undefined) return undefined;
  const left = [...stages];
  const rows = takeRows(left);
  const group = left.shift();
  if (!isGroup(group)) return undefined;
  const isKept = group.fields.every(
    ({ accumulator, unit }) => unit !== undefined || accumulator.makeInvertible,
  );
  if (!isKept) return undefined;
  const before = takeRows(left);
  const [next] = left;
  const order = next && isSort(next) ? next.order : undefined;
  if (order) left.shift();
  const after = takeRows(left);
  let [from, to] = [0, Number.POSITIVE_INFINITY];
  for (let cut = left[0]?.cut; cut; cut = left[0]?.cut) {
    from += cut.skip;
    to = Math.min(to, from + cut.limit);
    left.shift();
  }
  // What changes each of the few that are shown is no more than telling them.
  const isTold = Number.isFinite(to) && left.every(({ change }) => change);
  const kept = stages.length - (isTold ? 0 : left.length);
  return { rows, group, before, order, after, from, to, rest: left, kept };
}

/** Removes the stages in front that look at one document after another. */
function takeRows(left: Stage[]): RowChange[] {
  const rows: RowChange[] = [];
  for (let change = left[0]?.change; change; change = left[0]?.change) {
    rows.push(change);
    left.shift();
  }
  return rows;
}

/** What they make of a document; `undefined` where one leaves it out. */
export function through(rows: readonly RowChange[], document: object): object | undefined {
  let made: readonly object[] = [document];
  for (const change of rows) {
    made = change(made);
    if (made.length === 0) return undefined;
  }
  return made[0];
}
