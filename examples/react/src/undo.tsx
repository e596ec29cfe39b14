import { useEffect } from 'react';
import { tasks } from './database';

const SHOWN_MS = 8000;

interface Props {
  id: string;
  over: () => void;
  report: (error: unknown) => void;
}

export function Undo({ id, over, report }: Props) {
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
