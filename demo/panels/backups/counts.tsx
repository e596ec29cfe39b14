import { formatNumber } from '../../parts/format.ts';
import './counts.css';

interface CountsProps {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  /** For tests. */
  readonly part: string;
}

/** How many documents differ. */
export function Counts({ added, changed, removed, part }: CountsProps) {
  const counts = { added, changed, removed };
  return (
    <dl class="difference" data-part={part}>
      {Object.entries(counts).map(([what, count]) => (
        <div key={what} data-what={what}>
          <dt>{what}</dt>
          <dd class="figures">{formatNumber(count)}</dd>
        </div>
      ))}
    </dl>
  );
}
