import type { Explanation } from '../../api/document-types.ts';
import type { Plan } from '../../query/plan/plan.ts';

export const count = (number: number): string => number.toLocaleString('en');

/** `1,234 documents`, `1 document`. */
export const counted = (number: number, noun: string): string =>
  `${count(number)} ${noun}${number === 1 ? '' : 's'}`;

export function bytes(size: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  const power = size < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(size) / 3));
  const value = size / 1000 ** power;
  return `${value.toFixed(power === 0 || value >= 100 ? 0 : 1)} ${units[power]}`;
}

export function millisecondsText(ms: number): string {
  return ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}

export function clockText(at: Date | number | undefined): string {
  return at === undefined ? '–' : new Date(at).toLocaleTimeString('en-GB');
}

export function dateTime(at: Date | undefined): string {
  return at === undefined ? '–' : at.toLocaleString('en-GB');
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A plan in a few words: `index region`, `scan`. */
export function planText(plan: Plan): string {
  const order = plan.ordered ? '' : ', sorted afterwards';
  if (plan.kind === 'index') {
    const { length } = plan.ranges;
    return `index ${plan.index}${length === 1 ? '' : ` (${length} ranges)`}${order}`;
  }
  if (plan.kind === 'ids') return `${plan.ids.length} by _id`;
  if (plan.kind === 'union') return `union: ${plan.branches.map(planText).join('; ')}`;
  return `scan${order}`;
}

/** How a query was answered: its plan, those of partners, and of a pipeline which stages it has. */
export function answerText({ plan, relations = [], stages = [] }: Explanation): string {
  const partners = relations.map(
    ({ relation, use, plan: own }) => `; ${relation} (${use}): ${planText(own)}`,
  );
  const planned = stages.filter((stage) => stage.planned).length;
  const live = stages.filter((stage) => stage.live === 'differences').length;
  const piped =
    stages.length > 0
      ? `; ${planned} of ${counted(stages.length, 'stage')} by the plan, live ${live} by differences`
      : '';
  return planText(plan) + partners.join('') + piped;
}

/** Where a page of results stands: `51–100 of 1,234`. */
export function pageText(first: number, shown: number, total: number): string {
  if (total === 0) return 'Nothing found';
  return `${count(first + 1)}–${count(first + shown)} of ${count(total)}`;
}
