import { useEffect } from 'react';
import { useSession } from './session';

const SHOWN_MS = 8000;

interface Props {
  id: string;
  over: () => void;
  report: (error: unknown) => void;
}

export function Undo({ id, over, report }: Props) {
  const { tasks } = useSession();
  useEffect(() => {
    const timer = setTimeout(over, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [over]);

  return (
    <aside role="status">
      <span>Deleted.</span>
      <button type="button" onClick={() => tasks.unarchive(id).then(over, report)}>
        Undo
      </button>
    </aside>
  );
}
