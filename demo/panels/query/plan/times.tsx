import { formatSpan } from '../../../parts/format.ts';
import './times.css';

/** Time in the engine, and time for messages. */
export function Times({ engineMs, totalMs }: { engineMs: number; totalMs: number }) {
  const wireMs = Math.max(0, totalMs - engineMs);
  const share = totalMs === 0 ? 0 : engineMs / totalMs;
  return (
    <div class="times">
      <div class="times-bar" aria-hidden="true">
        <span style={{ flexGrow: share }} />
        <span style={{ flexGrow: 1 - share }} />
      </div>
      <dl class="figures">
        <div>
          <dt>In the engine</dt>
          <dd data-part="engine-ms">{formatSpan(engineMs)}</dd>
        </div>
        <div>
          <dt>To the worker and back</dt>
          <dd>{formatSpan(wireMs)}</dd>
        </div>
      </dl>
    </div>
  );
}
