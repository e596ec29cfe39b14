import { useSignal, useSignalEffect } from '@preact/signals';
import type { Rows } from './grid/rows.ts';
import { askedRows } from './view.ts';

/**
 * The rows to show: those of the newest query, once its first rows arrived. One query runs at a
 * time, so that quick typing queries the final text and not every prefix.
 */
export function useAnsweredRows(): Rows | undefined {
  const open = useSignal<Rows | undefined>(undefined);
  const shown = useSignal<Rows | undefined>(undefined);

  useSignalEffect(() => {
    const asked = askedRows.value;
    const isFree = !open.value || isAnswered(open.value);
    if (isFree) open.value = asked;
  });

  useSignalEffect(() => open.value?.open());

  useSignalEffect(() => {
    if (open.value && isAnswered(open.value)) shown.value = open.value;
  });

  return shown.value;
}

const isAnswered = ({ answeredIn, problem }: Rows): boolean =>
  answeredIn.value !== undefined || problem.value !== '';
