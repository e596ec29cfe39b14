import type { StorageStatus } from 'cairndb';
import { useEffect } from 'preact/hooks';
import { status } from '../../database/status.ts';
import { CodeSample, CodeSection } from '../../parts/code-sample.tsx';
import { Figure, Figures } from '../../parts/figure.tsx';
import { formatBytes } from '../../parts/format.ts';
import { PanelFrame } from '../../parts/panel.tsx';
import { Told } from '../../parts/told.tsx';
import { CollectionSizes } from './collection-sizes.tsx';
import roomSource from './recipes/room.ts?raw';
import {
  askToKeep,
  collections,
  persistAnswer,
  quota,
  samples,
  storageProblem,
  storageStatus,
  usage,
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
  tab: 'in another tab',
};

const PROMISES: Readonly<Record<StorageStatus, string>> = {
  persistent: 'It stays',
  best_effort: 'It may go',
  memory: 'It is gone',
  unsupported: 'Nobody knows',
};

const REASONS: Readonly<Record<StorageStatus, string>> = {
  persistent: 'until you remove it',
  best_effort: 'the browser decides',
  memory: 'with the page',
  unsupported: 'the browser does not say',
};

const HINT = 'Pages that are installed, or visited often, are mostly kept.';

const told = (bytes: number | 'unsupported' | undefined): string | undefined =>
  bytes === 'unsupported' ? 'Unknown' : bytes === undefined ? undefined : formatBytes(bytes);

/** How much room there is, who uses it, and whether the browser may take it back. */
export function StoragePanel() {
  useEffect(watchUsage, []);
  const { storage, started } = status.value ?? {};
  const promise = storageStatus.value;
  return (
    <PanelFrame
      title="Know what is stored, and for how long."
      lead="Documents rest in IndexedDB as segments of some hundred each. What a collection holds in memory leaves it when nobody has asked for ten minutes."
    >
      <Figures label="Storage">
        <Figure
          label="Used by this page"
          value={told(usage.value)}
          note="with what is kept for offline"
          part="usage"
        />
        <Figure
          label="The browser would give"
          value={told(quota.value)}
          note="to this page and its neighbours"
        />
        <Figure
          label="If room runs short"
          value={promise && PROMISES[promise]}
          note={promise ? REASONS[promise] : ''}
          tone={promise === 'persistent' ? 'good' : undefined}
          part="persisted"
        />
        <Figure
          label="Kept in"
          value={storage && (STORAGES[storage] ?? storage)}
          note={started ? `the engine runs ${ENGINES[started]}` : ''}
        />
      </Figures>
      <div class="storage-keep">
        <button
          type="button"
          class="button"
          disabled={promise !== 'best_effort'}
          onClick={askToKeep}
        >
          Ask the browser to keep it
        </button>
        <Told text={persistAnswer.value || HINT} problem={storageProblem.value} />
      </div>
      <div class="storage-columns">
        <section class="card storage-space" aria-labelledby="sizes-title">
          <h2 id="sizes-title">By collection</h2>
          <p class="soft small">
            Rough bytes, before the browser compresses them. Each question puts the end of its time
            in memory off.
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
          <section class="storage-sizes" tabIndex={0} aria-label="Sizes of the collections">
            <CollectionSizes collections={collections.value} />
          </section>
        </section>
        <section class="card" aria-labelledby="usage-title">
          <h2 id="usage-title">Over time</h2>
          <UsagePlot samples={samples.value} />
        </section>
      </div>
      <CodeSection>
        <CodeSample title="Ask what there is, and to keep it" source={roomSource} />
      </CodeSection>
    </PanelFrame>
  );
}
