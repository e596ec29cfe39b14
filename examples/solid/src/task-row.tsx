import type { DocumentOf } from 'cairndb';
import { useDraft } from 'cairndb/solid';
import type { Data } from './database';
import { useSession } from './session';

interface Props {
  task: DocumentOf<Data['tasks']>;
  deleted: () => void;
  report: (error: unknown) => void;
}

export function TaskRow(props: Props) {
  const { tasks } = useSession();
  // Changes show at once, and what is typed stays until it is saved, whatever other tabs do meanwhile.
  const { draft, set, save } = useDraft(tasks, () => props.task._id);
  const shown = () => draft() ?? props.task;

  function check(done: boolean) {
    set({ done });
    save().catch(props.report);
  }

  return (
    <li classList={{ done: shown().done }}>
      <input
        type="checkbox"
        aria-label="Done"
        checked={shown().done}
        onChange={(event) => check(event.target.checked)}
      />
      <input
        aria-label="Task"
        value={shown().text}
        onInput={(event) => set({ text: event.target.value })}
        onChange={() => save().catch(props.report)}
      />
      <button
        type="button"
        // Archived: it is still there to be brought back.
        onClick={() => tasks.archive(props.task._id).then(props.deleted, props.report)}
      >
        Delete
      </button>
    </li>
  );
}
