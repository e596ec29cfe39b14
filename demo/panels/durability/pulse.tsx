import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { connection } from '../../database/database.ts';
import { formatCount, formatNumber, formatSpan } from '../../parts/format.ts';
import { watch } from './recipes/watch.ts';
import './pulse.css';

const SPAN_MS = 20_000;
const WIDTH = 600;
const HEIGHT = 110;
const FRAME_MS = 100;

interface Moment {
  /** `performance.now()` */
  readonly at: number;
  readonly unsaved: number;
  /** Changes in the save at this time. */
  readonly saved: number;
}

/** The last twenty seconds: unsaved changes as an area, saves as lines. */
export function Pulse() {
  const moments = useRef<Moment[]>([]);
  const now = useSignal(performance.now());
  const unsaved = useSignal(0);
  const since = useSignal<Date | undefined>(undefined);
  const open = connection();

  useEffect(() => {
    const note = (saved: number) => {
      const at = performance.now();
      moments.current.push({ at, unsaved: unsaved.peek(), saved });
    };
    return watch(
      open,
      (count, time) => {
        unsaved.value = count;
        since.value = time;
        note(0);
      },
      note,
    );
  }, [open, unsaved, since]);

  useEffect(() => {
    const timer = setInterval(() => {
      now.value = performance.now();
      const start = now.value - SPAN_MS;
      // The moment before the start gives the initial count.
      while ((moments.current[1]?.at ?? Infinity) < start) moments.current.shift();
    }, FRAME_MS);
    return () => clearInterval(timer);
  }, [now]);

  const top = Math.max(10, ...moments.current.map((moment) => moment.unsaved));
  const x = (at: number) => WIDTH - ((now.value - at) / SPAN_MS) * WIDTH;
  const y = (count: number) => HEIGHT - (count / top) * (HEIGHT - 10);
  const beats = moments.current.filter(({ saved }) => saved > 0);
  return (
    <figure class="pulse">
      <figcaption>
        <strong class="pulse-count figures" data-part="unsaved" data-unsaved={unsaved.value > 0}>
          {formatNumber(unsaved.value)}
        </strong>
        <span>
          unsaved
          <span class="soft figures">
            {since.value ? ` for ${formatSpan(Date.now() - since.value.getTime())}` : ''}
          </span>
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label="Saves and unsaved changes of the last twenty seconds"
      >
        <path class="pulse-area" d={areaOf(moments.current, x, y)} />
        {beats.map(({ at }) => (
          <line key={at} class="pulse-beat" x1={x(at)} x2={x(at)} y1={6} y2={HEIGHT} />
        ))}
      </svg>
      <p class="pulse-sum soft small figures">
        {beats.length === 0
          ? 'No save in the last 20 seconds'
          : `${formatCount(beats.length, 'save')} with ${formatCount(
              beats.reduce((sum, { saved }) => sum + saved, 0),
              'change',
            )} in the last 20 seconds`}
      </p>
    </figure>
  );
}

/** A step function: a count holds until the next moment. */
function areaOf(
  moments: readonly Moment[],
  x: (at: number) => number,
  y: (count: number) => number,
): string {
  const steps = moments.map(({ at, unsaved }) => `H${x(at).toFixed(1)} V${y(unsaved).toFixed(1)}`);
  return `M0,${HEIGHT} ${steps.join(' ')} H${WIDTH} V${HEIGHT} z`;
}
