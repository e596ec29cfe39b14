import { onCleanup } from 'solid-js';
import { useSession } from './session';

const SHOWN_MS = 8000;

interface Props {
  id: string;
  over: () => void;
  report: (error: unknown) => void;
}

export function Undo(props: Props) {
  const { tasks } = useSession();
  const timer = setTimeout(() => props.over(), SHOWN_MS);
  onCleanup(() => clearTimeout(timer));

  return (
    <aside role="status">
      <span>Deleted.</span>
      <button
        type="button"
        onClick={() => tasks.unarchive(props.id).then(props.over, props.report)}
      >
        Undo
      </button>
    </aside>
  );
}
