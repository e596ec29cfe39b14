import { useComputed } from '@preact/signals';
import { cities } from '../../database/database.ts';
import openSource from '../../database/recipes/open.ts?raw';
import { CodeSample, CodeSection } from '../../parts/code-sample.tsx';
import { Figure, Figures } from '../../parts/figure.tsx';
import { formatNumber, formatRate, formatSpan } from '../../parts/format.ts';
import { PanelFrame } from '../../parts/panel.tsx';
import { Problem } from '../../parts/problem.tsx';
import { useLive } from '../../parts/use-live.ts';
import { citiesSource } from '../../sources/cities.ts';
import { ImportControl } from '../../sources/import-control.tsx';
import { importJob } from '../../sources/import-job.ts';
import insertSource from '../../sources/recipes/insert-batches.ts?raw';
import { Claims } from './claims.tsx';
import { openedIn } from './opened-in.ts';
import findAroundSource from './recipes/find-around.ts?raw';
import { Sight } from './sight.tsx';
import { WorldMap } from './world-map.tsx';
import './start-panel.css';

/** A map of all cities, and a query wherever the pointer is. */
export function StartPanel() {
  const query = useComputed(() => cities().liveCount({}, { throttle: 100 }));
  const { data: count = 0, error } = useLive(query.value);
  return (
    <PanelFrame
      title="A database inside the browser tab."
      lead="Query 135,233 documents in milliseconds, without blocking the page. Close the tab while you write, or crash the worker: acknowledged changes survive. There is no server: the data stays on this device and works offline."
    >
      <Problem text={error?.message} />
      <div class="start-controls">
        <ImportControl
          source={citiesSource}
          have={count}
          label={`Load ${formatNumber(citiesSource.total ?? 0)} cities`}
        />
        <ImportFigures count={count} />
      </div>
      <section class="start-world" aria-label="Cities of the world">
        <WorldMap />
        <Sight total={count} />
      </section>
      <Claims />
      <CodeSection>
        <CodeSample title="Open a database" source={openSource} />
        <CodeSample title="Insert documents" source={insertSource} />
        <CodeSample title="Find the cities under the lens" source={findAroundSource} />
      </CodeSection>
    </PanelFrame>
  );
}

function ImportFigures({ count }: { count: number }) {
  const job = importJob.value?.source === citiesSource ? importJob.value : undefined;
  const { documents = 0, ms = 0, longestTask, state } = job ?? {};
  const isFree = longestTask === 0;
  return (
    <Figures label="Import">
      <Figure label="Documents" value={formatNumber(count)} part="documents" />
      <Figure
        label="Opened and counted in"
        value={openedIn.value === undefined ? undefined : formatSpan(openedIn.value)}
        note="from the start of the page"
      />
      <Figure
        label="Stored per second"
        value={formatRate(documents, ms)}
        note={state === 'done' ? `all saved after ${formatSpan(ms)}` : ''}
        part="rate"
      />
      <Figure
        label="Longest block of the page"
        value={state && describeLongest(longestTask)}
        note="during the import"
        tone={state && (isFree ? 'good' : 'bad')}
        part="longest-task"
      />
    </Figures>
  );
}

function describeLongest(longest: number | undefined): string {
  if (longest === undefined) return 'unknown';
  return longest === 0 ? '< 50 ms' : formatSpan(longest);
}
