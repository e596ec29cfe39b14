import type { DocumentOf } from 'cairndb';
import { useDraft } from 'cairndb/react';
import type { Data } from './database';
import { useSession } from './session';

interface Props {
  task: DocumentOf<Data['tasks']>;
  deleted: (id: string) => void;
  report: (error: unknown) => void;
}

export function TaskRow({ task, deleted, report }: Props) {
  const { tasks } = useSession();
  // Changes show at once, and what is typed stays until it is saved, whatever other tabs do meanwhile.
  const { draft = task, set, save } = useDraft(tasks, task._id);

  function check(done: boolean) {
    set({ done });
    save().catch(report);
  }

  return (
    <li className={draft.done ? 'done' : undefined}>
      <input
        type="checkbox"
        aria-label="Done"
        checked={draft.done}
        onChange={(event) => check(event.target.checked)}
      />
      <input
        aria-label="Task"
        value={draft.text}
        onChange={(event) => set({ text: event.target.value })}
        onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
        onBlur={() => save().catch(report)}
      />
      <button
        type="button"
        // Archived: it is still there to be brought back.
        onClick={() => tasks.archive(task._id).then(() => deleted(task._id), report)}
      >
        Delete
      </button>
    </li>
  );
}
