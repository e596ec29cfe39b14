import { formatClock } from '../../parts/format.ts';
import { Segmented } from '../../parts/segmented.tsx';
import { attempt } from './devices.ts';
import { type Merge, merges, presentSide, sideText } from './merges.ts';
import { decide, decideField } from './recipes/decide.ts';
import './merge-list.css';

/** What both sides had changed: how it was merged, and a choice where one side lost. */
export function MergeList() {
  return (
    <section class="card" aria-labelledby="merges-title">
      <h2 id="merges-title">Changed on both</h2>
      <p class="soft small">
        Each field is merged by itself. Where both changed the same one, the server’s value wins,
        and the loser is an event. Decide otherwise here: all devices follow.
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <ol class="merge-list" data-part="merges" tabIndex={0} aria-label="Merged fields">
        {merges.value.map((merge, place) => (
          <li key={merge.id} style={{ '--place': place }} data-conflict={merge.isConflict}>
            <MergeRow merge={merge} />
          </li>
        ))}
        {merges.value.length === 0 && (
          <li class="merge-none soft small">
            Nothing yet: so far one device at a time has changed an item.
          </li>
        )}
      </ol>
    </section>
  );
}

function MergeRow({ merge }: { merge: Merge }) {
  const { field, title, at, device, conflict, isConflict } = merge;
  const what = field ? `${nameOf(field)} of ${title}` : title;
  return (
    <>
      <p>
        <strong>{what}</strong>
        <span class="merge-when soft small figures">
          <time dateTime={at.toISOString()}>{formatClock(at)}</time>, merged by the{' '}
          {device.title.toLowerCase()}
        </span>
      </p>
      {isConflict || !field ? (
        <Choice merge={merge} what={what} />
      ) : (
        <Kept
          merge={merge}
          side={conflict.base?.[field] === conflict.remote?.[field] ? 'local' : 'remote'}
        />
      )}
    </>
  );
}

/** A value that one side alone had changed. */
function Kept({ merge, side }: { merge: Merge; side: 'local' | 'remote' }) {
  const { title } = merge.device;
  const [who, other] = side === 'local' ? [title, 'server'] : ['Server', title.toLowerCase()];
  return (
    <p class="small">
      {who}: {clip(sideText(merge, side))}
      <span class="soft">, unchanged on the {other}</span>
    </p>
  );
}

function Choice({ merge, what }: { merge: Merge; what: string }) {
  const { id, field, device, conflict } = merge;
  const take = (side: 'local' | 'remote') =>
    field
      ? decideField(device.client, conflict, side, field)
      : decide(device.client, conflict, side);
  return (
    <Segmented<'local' | 'remote' | ''>
      legend={what}
      name={`merge-${id}`}
      options={[
        ['remote', `Server: ${clip(sideText(merge, 'remote'))}`],
        ['local', `${device.title}: ${clip(sideText(merge, 'local'))}`],
      ]}
      value={presentSide(merge) ?? ''}
      onChange={(side) => side && attempt(() => take(side))}
    />
  );
}

const nameOf = (field: string) => `${field[0]?.toUpperCase()}${field.slice(1)}`;

/** Both choices of a phone fit in one row. */
const clip = (text: string) => (text.length > 10 ? `${text.slice(0, 9)}…` : text);
