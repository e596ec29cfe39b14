import type { StorageStatus } from 'cairndb';
import { useEffect } from 'preact/hooks';
import { status } from '../../database/status.ts';
import { CodeSample, CodeSection } from '../../parts/code-sample.tsx';
import { Figure, Figures } from '../../parts/figure.tsx';
import { formatBytes } from '../../parts/format.ts';
import { PanelFrame } from '../../parts/panel.tsx';
import { StatusText } from '../../parts/status-text.tsx';
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
  persistent: 'Persistent',
  best_effort: 'Best effort',
  memory: 'In memory',
  unsupported: 'Unknown',
};

const REASONS: Readonly<Record<StorageStatus, string>> = {
  persistent: 'until you remove it',
  best_effort: 'the browser may evict it',
  memory: 'lost with the page',
  unsupported: 'the browser does not say',
};

const HINT = 'Browsers usually grant this to pages that are installed or visited often.';

const describe = (bytes: number | 'unsupported' | undefined): string | undefined =>
  bytes === 'unsupported' ? 'Unknown' : bytes === undefined ? undefined : formatBytes(bytes);

/** Quota, usage by collection, and persistence. */
export function StoragePanel() {
  useEffect(watchUsage, []);
  const { storage, started } = status.value ?? {};
  const promise = storageStatus.value;
  return (
    <PanelFrame
      title="Know what is stored, and for how long."
      lead="IndexedDB stores the documents in segments of a few hundred. Cairn drops the cache of a collection after ten minutes without a call."
    >
      <Figures label="Storage">
        <Figure
          label="Used by this page"
          value={describe(usage.value)}
          note="including offline files"
          part="usage"
        />
        <Figure label="Quota" value={describe(quota.value)} note="for this origin" />
        <Figure
          label="Persistence"
          value={promise && PROMISES[promise]}
          note={promise ? REASONS[promise] : ''}
          tone={promise === 'persistent' ? 'good' : undefined}
          part="persisted"
        />
        <Figure
          label="Stored in"
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
          Ask the browser to persist it
        </button>
        <StatusText text={persistAnswer.value || HINT} problem={storageProblem.value} />
      </div>
      <div class="storage-columns">
        <section class="card storage-space" aria-labelledby="sizes-title">
          <h2 id="sizes-title">By collection</h2>
          <p class="soft small">
            Approximate bytes, before the browser compresses them. Every call keeps the cache for
            another ten minutes.
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
        <CodeSample title="Read the usage, ask for persistence" source={roomSource} />
      </CodeSection>
    </PanelFrame>
  );
}
