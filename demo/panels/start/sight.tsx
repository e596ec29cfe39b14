import { formatNumber, formatShort, formatSpan } from '../../parts/format.ts';
import { Problem } from '../../parts/problem.tsx';
import { lensProblem, sight } from './lens.ts';
import './sight.css';

/** The result of the query under the lens, as text. */
export function Sight({ total }: { total: number }) {
  return (
    <div class="sight" id="sight">
      <Problem text={lensProblem.value} />
      <p class="figures">{summary(total)}</p>
      <ol>
        {sight.value?.largest.map(({ _id, name, population }, index) => (
          // Keyed by city: a replaced item is no layout shift.
          <li key={`${index} ${_id}`}>
            <span class="rank" aria-hidden="true">
              {index + 1}
            </span>
            {name} <span class="soft figures">{formatShort(population)}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** Keyed by value: a replaced number is no layout shift. */
const Count = ({ value }: { value: number }) => (
  <strong class="sight-count" key={value}>
    {formatNumber(value)}
  </strong>
);

function summary(total: number) {
  if (!sight.value) return <span class="soft">Looking under the lens…</span>;
  if (total === 0) {
    return <span class="soft">The map is empty. Load the cities, then move the lens.</span>;
  }
  const { count, ms } = sight.value;
  return (
    <>
      <Count value={count} /> of <Count value={total} /> are under the lens, found in{' '}
      <strong data-part="sight-ms">{formatSpan(ms)}</strong>
    </>
  );
}
