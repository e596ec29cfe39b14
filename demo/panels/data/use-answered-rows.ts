import { useSignal, useSignalEffect } from '@preact/signals';
import type { Rows } from './grid/rows.ts';
import { askedRows } from './view.ts';

/**
 * The rows to show: those asked for last, as soon as the first of them are there. One question is out at a
 * time, so that quick typing asks for what stands there in the end, and not for every letter before it.
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
