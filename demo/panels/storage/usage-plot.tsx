import { formatBytes } from '../../parts/format.ts';
import type { Sample } from './usage.ts';
import './usage-plot.css';

const WIDTH = 600;
const HEIGHT = 140;

/** Usage over time, while the panel is open. */
export function UsagePlot({ samples }: { samples: readonly Sample[] }) {
  const first = samples[0];
  const last = samples.at(-1);
  const top = roundUp(Math.max(...samples.map(({ usage }) => usage), 1));
  const span = Math.max((last?.at ?? 0) - (first?.at ?? 0), 20_000);
  const x = ({ at }: Sample) => ((at - (first?.at ?? 0)) / span) * WIDTH;
  const y = ({ usage }: Sample) => HEIGHT - (usage / top) * HEIGHT;
  const points = samples.map((sample) => `${x(sample).toFixed(1)},${y(sample).toFixed(1)}`);
  const end = last ? x(last) : 0;
  return (
    <figure class="usage-plot">
      <figcaption class="soft small">Used in the last minutes</figcaption>
      <div class="usage-axes">
        <span class="figures" key={top}>
          {formatBytes(top)}
        </span>
        <span class="figures">0</span>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`Storage used: ${formatBytes(last?.usage ?? 0)}`}
        >
          {points.length > 0 && (
            <path class="usage-area" d={`M0,${HEIGHT} L${points.join(' L')} L${end},${HEIGHT} z`} />
          )}
          <polyline class="usage-line" points={points.join(' ')} />
          {last && <path class="usage-now" d={`M${points.at(-1)} h0.01`} />}
        </svg>
      </div>
    </figure>
  );
}

/** Rounds up to 1, 2 or 5 times a power of ten. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) ?? value;
}
