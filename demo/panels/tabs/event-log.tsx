import { formatClock } from '../../parts/format.ts';
import { events } from './failover-log.ts';
import './event-log.css';

/** Failovers, newest first. */
export function EventLog() {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
    <ol class="event-log" data-part="events" tabIndex={0} aria-label="What happened">
      {events.value.map(({ at, what, outcome, tone }, place) => (
        <li key={at.getTime()} data-tone={tone} style={{ '--place': place }}>
          <time class="small soft figures" dateTime={at.toISOString()}>
            {formatClock(at)}
          </time>
          <p>
            <strong>{what}</strong> <span class="figures">{outcome}</span>
          </p>
        </li>
      ))}
    </ol>
  );
}
