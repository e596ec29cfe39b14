import { useDatabaseStatus } from 'cairndb/react';
import type { ChangeEvent } from 'react';
import { exportTasks, importTasks } from './copies';
import { useSession } from './session';

export function Footer({ report }: { report: (error: unknown) => void }) {
  const { db, tasks } = useSession();
  const { unsaved, storage } = useDatabaseStatus(db);
  const where = storage === 'memory' ? 'Kept until you close the page.' : 'Kept on this device.';

  function restore({ target }: ChangeEvent<HTMLInputElement>) {
    const file = target.files?.[0];
    if (file) importTasks(tasks, file).catch(report);
    target.value = '';
  }

  return (
    <footer>
      <span role="status">{unsaved > 0 ? 'Saving …' : where}</span>
      <button
        type="button"
        onClick={() => {
          exportTasks(tasks).catch(report);
          // After a gesture, which some browsers want: else they may delete the data when space is short.
          db.storage.persist().catch(report);
        }}
      >
        Save a copy
      </button>
      <label className="button">
        Restore a copy
        <input type="file" accept=".gz" hidden onChange={restore} />
      </label>
    </footer>
  );
}
