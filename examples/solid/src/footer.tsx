import { useDatabaseStatus } from 'cairndb/solid';
import { exportTasks, importTasks } from './copies';
import { useSession } from './session';

export function Footer(props: { report: (error: unknown) => void }) {
  const { db, tasks } = useSession();
  const status = useDatabaseStatus(db);
  const text = () => {
    if (status().unsaved > 0) return 'Saving …';
    return status().storage === 'memory'
      ? 'Kept until you close the page.'
      : 'Kept on this device.';
  };

  function saveCopy() {
    exportTasks(tasks).catch(props.report);
    // After a gesture, which some browsers want: else they may delete the data when space is short.
    db.storage.persist().catch(props.report);
  }

  function restore(input: HTMLInputElement) {
    const file = input.files?.[0];
    if (file) importTasks(tasks, file).catch(props.report);
    input.value = '';
  }

  return (
    <footer>
      <span role="status">{text()}</span>
      <button type="button" onClick={saveCopy}>
        Save a copy
      </button>
      <label class="button">
        Restore a copy
        <input type="file" accept=".gz" hidden onChange={(event) => restore(event.target)} />
      </label>
    </footer>
  );
}
