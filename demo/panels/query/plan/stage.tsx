import type { ComponentChildren } from 'preact';
import { formatNumber } from '../../../parts/format.ts';

interface StageProps {
  readonly title: ComponentChildren;
  readonly amount: number;
  readonly unit: string;
  readonly total: number;
  readonly tone?: 'slow' | 'result';
}

/** A stage of a plan, with a bar for its share of all documents. */
export function Stage({ title, amount, unit, total, tone }: StageProps) {
  const share = total === 0 ? 0 : Math.min(1, amount / total);
  return (
    <li class="stage" data-tone={tone}>
      <p class="stage-title">{title}</p>
      <p class="figures">
        <strong>{formatNumber(amount)}</strong> <span class="soft">{unit}</span>
      </p>
      <div class="stage-bar" aria-hidden="true">
        <span style={{ width: `${share * 100}%` }} />
      </div>
    </li>
  );
}
