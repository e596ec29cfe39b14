import type { BackupInfo } from 'cairndb';
import { ConfirmButton } from '../../parts/confirm.tsx';
import {
  formatBytes,
  formatCount,
  formatDay,
  formatMoment,
  formatNumber,
} from '../../parts/format.ts';
import {
  backups,
  compareNow,
  comparison,
  doing,
  downloadNow,
  removeNow,
  restoreNow,
} from './backup-job.ts';
import './time-line.css';

/** The backups, newest first. */
export function TimeLine() {
  if (backups.value.length === 0) {
    return <p class="soft">No backups yet. Create one, delete something, then restore it.</p>;
  }
  return (
    <ol class="time-line" style={{ '--count': backups.value.length }}>
      {backups.value.map((backup, place) => (
        <Item key={backup.name} backup={backup} place={place} />
      ))}
    </ol>
  );
}

function Item({ backup, place }: { backup: BackupInfo; place: number }) {
  const { name, label, created_at, documents, bytes, automatic, expires_at } = backup;
  const isBusy = doing.value !== '';
  const title = label ?? 'Backup';
  const facts = [
    formatMoment(created_at),
    formatCount(documents, 'document'),
    formatBytes(bytes),
    expires_at ? `expires ${formatDay(expires_at)}` : 'never expires',
  ];
  return (
    <li data-automatic={automatic} data-part="backup" style={{ '--place': place }}>
      <h3>
        {title} {automatic && <span class="badge">automatic</span>}
      </h3>
      <p class="backup-facts small soft figures">{facts.join(' · ')}</p>
      <div class="backup-actions">
        <button
          type="button"
          class="button compact"
          disabled={isBusy}
          onClick={() => restoreNow(backup)}
        >
          Restore<span class="hidden"> {title}</span>
        </button>
        <button
          type="button"
          class="button compact"
          disabled={isBusy}
          onClick={() => compareNow(backup)}
        >
          Compare<span class="hidden"> {title}</span>
        </button>
        <button
          type="button"
          class="button compact"
          disabled={isBusy}
          onClick={() => downloadNow(backup)}
        >
          Download<span class="hidden"> {title}</span>
        </button>
        <ConfirmButton
          label={
            <>
              Delete…<span class="hidden"> {title}</span>
            </>
          }
          question={`Delete "${title}"?`}
          text="A deleted backup cannot be restored. The collection does not change."
          action="Delete it"
          disabled={isBusy}
          onConfirm={() => removeNow(backup)}
        />
      </div>
      <Difference backup={name} />
    </li>
  );
}

function Difference({ backup }: { backup: string }) {
  const found = comparison.value;
  if (found?.backup !== backup) return null;
  const parts = [
    ['added', found.added],
    ['changed', found.changed],
    ['removed', found.removed],
  ] as const;
  return (
    <dl class="difference" data-part="difference">
      {parts.map(([what, count]) => (
        <div key={what} data-what={what}>
          <dt>{what}</dt>
          <dd class="figures">{formatNumber(count)}</dd>
        </div>
      ))}
    </dl>
  );
}
