import { useEffect } from 'preact/hooks';
import { status } from '../../database/status.ts';
import { CodeSample, CodeSection } from '../../parts/code-sample.tsx';
import { Figure, Figures } from '../../parts/figure.tsx';
import { formatBytes } from '../../parts/format.ts';
import { PanelFrame } from '../../parts/panel.tsx';
import { Problem } from '../../parts/problem.tsx';
import { CollectionSizes } from './collection-sizes.tsx';
import contentSource from './recipes/content.ts?raw';
import roomSource from './recipes/room.ts?raw';
import {
  askToKeep,
  contents,
  isPersisted,
  persistAnswer,
  quota,
  samples,
  storageProblem,
  watchUsage,
} from './usage.ts';
import { UsagePlot } from './usage-plot.tsx';
import './storage-panel.css';

const STORAGES: Readonly<Record<string, string>> = {
  indexeddb: 'IndexedDB',
  memory: 'Memory only',
};

const ENGINES: Readonly<Record<string, string>> = {
  file: 'in a worker, from its file',
  inline: 'in a worker, from a Blob',
  given: 'in a worker',
  thread: 'in the page',
};

/** How much room there is, who uses it, and whether the browser may take it back. */
export function StoragePanel() {
  useEffect(watchUsage, []);
  const usage = samples.value.at(-1)?.usage;
  const { storage, started } = status.value ?? {};
  const isKept = isPersisted.value;
  return (
    <PanelFrame
      title="Know what is stored, and for how long."
      lead="Documents rest in IndexedDB as segments of some hundred each. What a collection holds in memory leaves it when nobody has asked for ten minutes."
    >
      <Figures label="Storage">
        <Figure
          label="Used by this page"
          value={usage === undefined ? undefined : formatBytes(usage)}
          note="with what is kept for offline"
          part="usage"
        />
        <Figure
          label="The browser would give"
          value={quota.value ? formatBytes(quota.value) : undefined}
          note={usage && quota.value ? `${((usage / quota.value) * 100).toFixed(2)} % is used` : ''}
        />
        <Figure
          label="If room runs short"
          value={isKept === undefined ? undefined : isKept ? 'It stays' : 'It may go'}
          note={isKept ? 'the browser keeps it' : 'the browser decides'}
          tone={isKept ? 'good' : undefined}
          part="persisted"
        />
        <Figure
          label="Kept in"
          value={storage && (STORAGES[storage] ?? storage)}
          note={started && `the engine runs ${ENGINES[started]}`}
        />
      </Figures>
      <div class="storage-keep">
        <button type="button" class="button" disabled={isKept !== false} onClick={askToKeep}>
          Ask the browser to keep it
        </button>
        <p class="soft small" role="status">
          {persistAnswer.value}
        </p>
      </div>
      <Problem text={storageProblem.value} />
      <div class="storage-columns">
        <section class="card" aria-labelledby="sizes-title">
          <h2 id="sizes-title">By collection</h2>
          <CollectionSizes contents={contents.value} />
          <p class="soft small">
            As JSON, by a sample of 200 documents each. The browser stores less: it compresses.
          </p>
        </section>
        <section class="card" aria-labelledby="usage-title">
          <h2 id="usage-title">Over time</h2>
          <UsagePlot samples={samples.value} />
        </section>
      </div>
      <CodeSection>
        <CodeSample title="Ask the browser" source={roomSource} />
        <CodeSample title="Weigh a collection" source={contentSource} />
      </CodeSection>
    </PanelFrame>
  );
}
