import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { tables } from '../../database/own-tables.ts';
import { CodeSample, CodeSection } from '../../parts/code-sample.tsx';
import { Figure, Figures } from '../../parts/figure.tsx';
import { formatBytes } from '../../parts/format.ts';
import { PanelFrame } from '../../parts/panel.tsx';
import { StatusText } from '../../parts/status-text.tsx';
import {
  backedUp,
  backupNews,
  backupProblem,
  createNow,
  deleteHalf,
  doing,
  importNow,
  use,
  watchBackups,
} from './backup-job.ts';
import backupsSource from './recipes/backups.ts?raw';
import compareSource from './recipes/compare.ts?raw';
import filesSource from './recipes/files.ts?raw';
import { TimeLine } from './time-line.tsx';
import { WhatChanged } from './what-changed.tsx';
import '../../parts/field.css';
import './backups-panel.css';

/** Create, compare, restore, export and import backups. */
export function BackupsPanel() {
  useEffect(watchBackups, []);
  return (
    <PanelFrame
      title="Go back to any moment you kept."
      lead="A backup is one small write, whatever the size: it shares the stored data of the collection. Restoring is atomic and can be undone."
    >
      <div class="backup-columns">
        <section class="card" aria-labelledby="make-title">
          <h2 id="make-title">Create a backup</h2>
          <Making />
        </section>
        <section class="card" aria-labelledby="line-title">
          <h2 id="line-title">Timeline</h2>
          <Cost />
          <div class="backup-space">
            <TimeLine />
          </div>
        </section>
      </div>
      <section class="card" aria-labelledby="changed-title">
        <h2 id="changed-title">What changed</h2>
        <WhatChanged />
      </section>
      <CodeSection>
        <CodeSample title="Create and restore" source={backupsSource} />
        <CodeSample title="Export and import" source={filesSource} />
        <CodeSample title="Compare, and restore one document" source={compareSource} />
      </CodeSection>
    </PanelFrame>
  );
}

function Making() {
  const label = useSignal('');
  const input = useRef<HTMLInputElement>(null);
  const isBusy = doing.value !== '';
  return (
    <>
      <form
        class="backup-form"
        onSubmit={(event) => {
          event.preventDefault();
          createNow(label.value.trim() || 'Manual backup');
          label.value = '';
        }}
      >
        <label class="labelled">
          <span>Collection</span>
          <select
            class="field"
            value={backedUp.value}
            onChange={({ currentTarget }) => {
              backedUp.value = currentTarget.value;
            }}
          >
            {tables.value.map(({ name, title }) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <label class="labelled">
          <span>Label</span>
          <input
            class="field"
            maxLength={80}
            placeholder="Manual backup"
            autocomplete="off"
            value={label.value}
            onInput={({ currentTarget }) => {
              label.value = currentTarget.value;
            }}
          />
        </label>
        <button type="submit" class="button primary" disabled={isBusy}>
          Create a backup
        </button>
      </form>
      <div class="backup-more">
        <button type="button" class="button" disabled={isBusy} onClick={deleteHalf}>
          Delete every second document
        </button>
        <button
          type="button"
          class="button"
          disabled={isBusy}
          onClick={() => input.current?.click()}
        >
          Restore from a file…
        </button>
        <input
          ref={input}
          type="file"
          class="hidden"
          tabIndex={-1}
          aria-label="Backup file"
          accept=".gz,application/gzip"
          onChange={({ currentTarget }) => {
            const file = currentTarget.files?.[0];
            if (file) importNow(file);
            currentTarget.value = ''; // allows choosing the same file again
          }}
        />
      </div>
      <StatusText
        text={doing.value ? `${doing.value}…` : backupNews.value}
        problem={backupProblem.value}
        part="backup-news"
      />
    </>
  );
}

/** Bytes of the collection, and additional bytes of its backups. */
function Cost() {
  const { bytes = 0, backup_bytes = 0 } = use.value ?? {};
  return (
    <Figures label="Size">
      <Figure label="Collection" value={formatBytes(bytes)} note="shared by its backups" />
      <Figure label="Backups" value={formatBytes(backup_bytes)} note="in addition" />
    </Figures>
  );
}
