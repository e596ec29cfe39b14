import { useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { repaint } from '../../app/theme.ts';
import { cities } from '../../database/database.ts';
import { importedBatch, importJob } from '../../sources/import-job.ts';
import { nextTask } from '../../sources/next-task.ts';
import { type Dot, Dots } from './dots.ts';
import { lens, look, moveLens, sight } from './lens.ts';
import { across, down, placeAt, RATIO } from './projection.ts';
import './world-map.css';

const DOTS_A_TASK = 1000;
const STEP = 2;
const STEPS: Readonly<Record<string, readonly [north: number, east: number]>> = {
  ArrowUp: [STEP, 0],
  ArrowDown: [-STEP, 0],
  ArrowLeft: [0, -STEP],
  ArrowRight: [0, STEP],
};

const percent = (part: number) => `${part * 100}%`;

/** All cities as dots, and a lens that queries the area under it. */
export function WorldMap() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const dots = useRef<Dots>(undefined);

  useEffect(() => {
    if (!canvas.current) return;
    const painted = new Dots(canvas.current);
    dots.current = painted;
    const sizes = new ResizeObserver(() => painted.repaint());
    sizes.observe(canvas.current);
    return () => sizes.disconnect();
  }, []);

  useSignalEffect(() => {
    repaint.value;
    dots.current?.repaint();
  });

  useSignalEffect(() => {
    const stop = new AbortController();
    const collection = cities();
    const readAll = async () => {
      dots.current?.clear();
      let some: Dot[] = [];
      for await (const city of collection.each({}, { select: ['location', 'population'] })) {
        if (stop.signal.aborted) return;
        some.push(city);
        if (some.length < DOTS_A_TASK) continue;
        dots.current?.add(some);
        some = [];
        await nextTask();
      }
      dots.current?.add(some);
    };
    // The lens queries the same database and shows its errors.
    readAll().then(look, look);
    return () => stop.abort();
  });

  useSignalEffect(() => {
    dots.current?.add(importedBatch.value as unknown as Dot[]);
  });

  useSignalEffect(() => {
    if (importJob.value) look();
  });

  const { north, south, west, east } = lens.value;
  const [width, height] = [across(east) - across(west), down(south) - down(north)];
  const place = { latitude: (north + south) / 2, longitude: (west + east) / 2 };
  return (
    <div
      class="world"
      style={{ aspectRatio: RATIO }}
      role="application"
      aria-label="Map of the cities. The arrow keys move the lens."
      aria-describedby="sight"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: an application is interactive
      tabIndex={0}
      onPointerMove={(event) => moveLens(placeOf(event))}
      onPointerDown={(event) => moveLens(placeOf(event))}
      onKeyDown={(event) => {
        const step = STEPS[event.key];
        if (!step) return;
        event.preventDefault();
        const [up, right] = step;
        moveLens({ latitude: place.latitude + up, longitude: place.longitude + right });
      }}
    >
      <canvas ref={canvas} />
      <div
        class="lens"
        style={{
          width: percent(width),
          height: percent(height),
          translate: `${percent(across(west) / width)} ${percent(down(north) / height)}`,
        }}
      />
      {sight.value?.largest.map(({ _id, location }, index) => (
        <span
          key={_id}
          class="marker"
          style={{
            left: percent(across(location.longitude)),
            top: percent(down(location.latitude)),
          }}
        >
          {index + 1}
        </span>
      ))}
    </div>
  );
}

function placeOf(event: PointerEvent & { readonly currentTarget: HTMLElement }) {
  const { left, top, width, height } = event.currentTarget.getBoundingClientRect();
  return placeAt((event.clientX - left) / width, (event.clientY - top) / height);
}
