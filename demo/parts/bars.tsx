import { formatNumber } from './format.ts';
import './bars.css';

interface BarsProps {
  /** As many as come: their room is there before them. */
  readonly rows?: number;
  readonly bars: readonly { readonly name: string; readonly value: number }[];
}

/** Named numbers, drawn as bars. */
export function Bars({ bars, rows = 0 }: BarsProps) {
  const longest = Math.max(...bars.map(({ value }) => value));
  return (
    <dl class="bars" style={{ '--rows': rows }}>
      {bars.map(({ name, value }, place) => (
        <div key={place}>
          <dt>{name}</dt>
          <dd class="bars-bar" aria-hidden="true">
            <span style={{ width: `${longest > 0 ? Math.max(0, value / longest) * 100 : 0}%` }} />
          </dd>
          <dd class="figures">{formatNumber(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
