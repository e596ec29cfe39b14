import { formatNumber, formatSpan } from '../../parts/format.ts';
import { compared } from './query.ts';
import './comparison.css';

/** Shows the first plan and the newest two others. */
const NEWEST = 2;

/** The cost of one query with different indexes. */
export function Comparison() {
  const [first, ...others] = compared.value;
  const ways = first ? [first, ...others.slice(-NEWEST)] : [];
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
        {ways.length < 2 && (
          <div key={ways.length}>
            <dt>With an index</dt>
            <dd class="soft">Switch one on above to compare.</dd>
            <dd class="comparison-bar" aria-hidden="true" />
          </div>
        )}
      </dl>
    </section>
  );
}
