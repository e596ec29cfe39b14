import type { BackupInfo } from 'cairndb';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { formatBytes, formatCount, formatDay, formatMoment } from '../../parts/format.ts';
import {
  backups,
  compareMoments,
  comparison,
  doing,
  downloadNow,
  removeNow,
  restoreNow,
} from './backup-job.ts';
import { Counts } from './counts.tsx';
import './time-line.css';

/** The backups, newest first. */
export function TimeLine() {
  if (backups.value.length === 0) {
    return <p class="none">No backups yet. Create one, delete something, then restore it.</p>;
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
          onClick={() => compareMoments({ from: name, to: '' })}
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

/** What has changed since a backup. */
function Difference({ backup }: { backup: string }) {
  const found = comparison.value;
  if (found?.from !== backup || found.to) return null;
  return <Counts {...found} part="difference" />;
}
