import type { BackupInfo, DocumentChange } from 'cairndb';
import { formatCount, formatMoment } from '../../parts/format.ts';
import { valueText } from '../../parts/value-text.ts';
import {
  backups,
  type Comparison,
  compareMoments,
  comparison,
  doing,
  moments,
  restoreDocumentNow,
} from './backup-job.ts';
import { Counts } from './counts.tsx';
import './what-changed.css';

/** The documents that differ between two moments, each with a way back. */
export function WhatChanged() {
  const list = backups.value;
  const { from, to } = moments.value;
  const isThere = list.some(({ name }) => name === from);
  const chosen = { from: isThere ? from : (list[0]?.name ?? ''), to };
  const choose = (change: Partial<typeof chosen>) => {
    moments.value = { ...chosen, ...change };
  };
  const found = comparison.value;
  const isShown = found?.from === chosen.from && found.to === chosen.to;
  return (
    <>
      <form
        class="moments"
        onSubmit={(event) => {
          event.preventDefault();
          compareMoments(chosen);
        }}
      >
        <Moment label="From" value={chosen.from} onChoose={(name) => choose({ from: name })} />
        <Moment label="To" value={chosen.to} now onChoose={(name) => choose({ to: name })} />
        <button type="submit" class="button" disabled={list.length === 0 || doing.value !== ''}>
          Show what changed
        </button>
      </form>
      <div class="changed-space">
        {isShown && found ? (
          <Changes found={found} />
        ) : (
          <p class="none">
            {list.length === 0
              ? 'Create a backup, delete every second document, then see here what is gone and restore it.'
              : 'Choose a backup, and what to compare it with.'}
          </p>
        )}
      </div>
    </>
  );
}

interface MomentProps {
  readonly label: string;
  readonly value: string;
  /** Whether the present is offered too. */
  readonly now?: boolean;
  readonly onChoose: (name: string) => void;
}

function Moment({ label, value, now = false, onChoose }: MomentProps) {
  return (
    <label class="labelled">
      <span>{label}</span>
      <select
        class="field"
        value={value}
        onChange={({ currentTarget }) => onChoose(currentTarget.value)}
      >
        {now && <option value="">Now</option>}
        {!now && backups.value.length === 0 && <option value="">No backup yet</option>}
        {backups.value.map((backup) => (
          <option key={backup.name} value={backup.name}>
            {momentText(backup)}
          </option>
        ))}
      </select>
    </label>
  );
}

function momentText({ label, created_at }: BackupInfo): string {
  return `${formatMoment(created_at)} · ${label ?? 'Backup'}`;
}

function Changes({ found }: { readonly found: Comparison }) {
  const { first, added, changed, removed } = found;
  const rest = added + changed + removed - first.length;
  return (
    <>
      <Counts {...found} part="changed-counts" />
      {/* A list that scrolls must be reachable by keyboard. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: as above */}
      <ol class="changes" data-part="changes" tabIndex={0} aria-label="Changes">
        {first.map((change) => (
          <Row key={change.id} change={change} found={found} />
        ))}
      </ol>
      {rest > 0 && <p class="small soft">and {formatCount(rest, 'more change')}</p>}
    </>
  );
}

function Row({ change, found }: { readonly change: DocumentChange; readonly found: Comparison }) {
  const { type, id } = change;
  const title = titleOf('after' in change ? change.after : change.before);
  return (
    <li data-what={type}>
      <span class="change-type small">{type}</span>
      <span class="change-text small">
        <strong>{title}</strong>
        {type === 'changed' && <Paths change={change} />}
      </span>
      {type !== 'added' && (
        <button
          type="button"
          class="button compact"
          disabled={doing.value !== ''}
          onClick={() => restoreDocumentNow(id, found)}
        >
          Put back<span class="hidden"> {title}</span>
        </button>
      )}
    </li>
  );
}

function Paths({ change }: { readonly change: Extract<DocumentChange, { type: 'changed' }> }) {
  return (
    <>
      {change.changes
        .filter(({ path }) => !path.startsWith('_updated'))
        .map(({ path, before, after }) => (
          <span key={path} class="change-path">
            <code>{path}</code> <del>{valueText(before)}</del> <ins>{valueText(after)}</ins>
          </span>
        ))}
    </>
  );
}

/** A name of the document, if it has one. */
function titleOf(document: Readonly<Record<string, unknown>> & { readonly _id: string }): string {
  const { name, title, _id } = document;
  return [name, title].find((one) => typeof one === 'string' && one !== '')?.toString() ?? _id;
}
