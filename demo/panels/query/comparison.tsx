import { formatNumber, formatSpan } from '../../parts/format.ts';
import { compared } from './query.ts';
import './comparison.css';

/** What stands in the place of the first and the second cost. */
const MISSING = [
  ['Without an index', 'Run criteria above.'],
  ['With another', 'Switch an index on or off above to compare.'],
] as const;

/** The cost of one query with the first indexes and with the newest. */
export function Comparison() {
  const [first, ...others] = compared.value;
  const ways = first ? [first, ...others.slice(-1)] : [];
  const slowest = Math.max(...ways.map(([, { engine_ms }]) => engine_ms));
  return (
    <section class="card" aria-labelledby="comparison-title" data-part="comparison">
      <h2 id="comparison-title">Index comparison</h2>
      <dl class="comparison">
        {ways.map(([indexes, { engine_ms, documents_examined, keys_examined }], place) => (
          <div key={`${place} ${indexes} ${engine_ms} ${documents_examined} ${keys_examined}`}>
            <dt>{indexes === '' ? 'Without an index' : `With ${indexes}`}</dt>
            <dd class="figures">
              <strong>{formatSpan(engine_ms)}</strong>{' '}
              <span class="soft">
                {formatNumber(documents_examined)} documents and {formatNumber(keys_examined)} keys
                examined
              </span>
            </dd>
            <dd class="comparison-bar" aria-hidden="true">
              <span style={{ width: `${(engine_ms / slowest) * 100}%` }} />
            </dd>
          </div>
        ))}
        {MISSING.slice(ways.length).map(([title, text]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd class="soft">{text}</dd>
            <dd class="comparison-bar" aria-hidden="true" />
          </div>
        ))}
      </dl>
    </section>
  );
}
