import { formatClock } from '../../parts/format.ts';
import { events } from './lead-story.ts';
import './event-log.css';

/** What happened to the engine, newest first. */
export function EventLog() {
  return (
    <ol class="event-log" data-part="events">
      {events.value.map(({ at, what, outcome, tone }) => (
        <li key={at.getTime()} data-tone={tone}>
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
