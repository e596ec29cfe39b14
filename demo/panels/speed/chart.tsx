import { formatNumber } from '../../parts/format.ts';
import { contenders, type Figures, keyOf, ROUNDS } from './race.ts';
import type { Workload } from './workloads.ts';
import './chart.css';

/** One workload: a bar for each contender, the shorter the better. */
export function Chart({ workload, figures }: { workload: Workload; figures: Figures }) {
  const rows = contenders.value.map(({ name }) => {
    const all = figures.get(keyOf(workload.name, name)) ?? [];
    return { name, all, middle: middleOf(all) };
  });
  const known = rows.flatMap(({ middle }) => middle ?? []);
  const longest = Math.max(...known);
  const best = Math.min(...known);
  return (
    <figure class="chart" data-part={`chart-${workload.name}`}>
      <figcaption>
        <h3>{workload.title}</h3>
      </figcaption>
      <dl>
        {rows.map(({ name, all, middle }) => (
          <div key={name} data-ours={name === 'Cairn'}>
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
                  <span class="soft"> {ratioOf(middle, best)}</span>
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

const ratioOf = (value: number, best: number): string =>
  value === best ? 'best' : `${show(value / best)} ×`;

function show(value: number): string {
  if (value >= 100) return formatNumber(Math.round(value));
  return value >= 10 ? value.toFixed(0) : value.toFixed(value >= 1 ? 1 : 2);
}
