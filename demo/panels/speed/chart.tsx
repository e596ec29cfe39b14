import { formatNumber } from '../../parts/format.ts';
import type { Shown } from './figures.ts';
import { CONTENDERS, OURS } from './peers.ts';
import { type Figures, keyOf } from './race.ts';
import './chart.css';

/** One figure: a bar for each contender, the shorter the better. */
export function Chart({ shown, figures }: { shown: Shown; figures: Figures }) {
  const { workload, metric, title, unit } = shown;
  const rows = CONTENDERS.map(({ peer, name }) => {
    const all = figures.get(keyOf(workload, metric, name)) ?? [];
    return { name, isOurs: peer === OURS, all, middle: middleOf(all) };
  });
  const longest = Math.max(...rows.map(({ middle }) => middle ?? 0));
  const ours = rows.find(({ isOurs }) => isOurs);
  return (
    <figure class="chart" data-part={`chart-${workload}`}>
      <figcaption>
        <h3>{title}</h3>
      </figcaption>
      <dl>
        {rows.map(({ name, isOurs, all, middle }) => (
          <div key={name} data-ours={isOurs}>
            <dt>{name}</dt>
            <dd class="chart-bar" aria-hidden="true">
              {middle !== undefined && <span style={{ width: `${(middle / longest) * 100}%` }} />}
            </dd>
            <dd class="figures" title={rangeOf(all, unit)}>
              {middle === undefined ? (
                '–'
              ) : (
                <>
                  <strong>{middle === 0 ? 'under 0.1' : show(middle)}</strong> {unit}
                  {ours?.middle && middle > 0 && !isOurs && (
                    <span class="soft">
                      {' '}
                      {show(middle / ours.middle)} × {ours.name}
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
  return `${all.length} rounds, ${show(Math.min(...all))} to ${show(Math.max(...all))} ${unit}`;
}

function show(value: number): string {
  if (value >= 100) return formatNumber(Math.round(value));
  if (value >= 10) return value.toFixed(0);
  return value >= 1 ? value.toFixed(1) : String(Number(value.toPrecision(2)));
}
