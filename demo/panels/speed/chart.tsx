import { formatNumber } from '../../parts/format.ts';
import { CONTENDERS, OURS } from './contenders/all.ts';
import { type Figures, keyOf, ROUNDS } from './race.ts';
import type { Workload } from './workloads.ts';
import './chart.css';

/** One workload: a bar for each contender, the shorter the better. */
export function Chart({ workload, figures }: { workload: Workload; figures: Figures }) {
  const rows = CONTENDERS.map(({ name }) => {
    const all = figures.get(keyOf(workload.name, name)) ?? [];
    return { name, all, middle: middleOf(all) };
  });
  const known = rows.flatMap(({ middle }) => middle ?? []);
  const longest = Math.max(...known);
  const ours = rows.find(({ name }) => name === OURS)?.middle;
  return (
    <figure class="chart" data-part={`chart-${workload.name}`}>
      <figcaption>
        <h3>{workload.title}</h3>
      </figcaption>
      <dl>
        {rows.map(({ name, all, middle }) => (
          <div key={name} data-ours={name === OURS}>
            <dt>{name}</dt>
            <dd class="chart-bar" aria-hidden="true">
              {middle !== undefined && <span style={{ width: `${(middle / longest) * 100}%` }} />}
            </dd>
            <dd class="figures" title={rangeOf(all, workload.unit)}>
              {middle === undefined ? (
                '–'
              ) : (
                <>
                  <strong>{show(middle)}</strong> {workload.unit}
                  {ours !== undefined && name !== OURS && (
                    <span class="soft">
                      {' '}
                      {show(middle / ours)} × {OURS}
                    </span>
                  )}
                </>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </figure>
  );
}

function middleOf(all: readonly number[]): number | undefined {
  return [...all].sort((a, b) => a - b)[all.length >> 1];
}

function rangeOf(all: readonly number[], unit: string): string {
  if (all.length < 2) return '';
  return `${all.length} of ${ROUNDS} rounds, ${show(Math.min(...all))} to ${show(Math.max(...all))} ${unit}`;
}

function show(value: number): string {
  if (value >= 100) return formatNumber(Math.round(value));
  if (value >= 10) return value.toFixed(0);
  return value >= 1 ? value.toFixed(1) : String(Number(value.toPrecision(2)));
}
