import { useLiveCount, useLivePages } from 'cairndb/react';
import { contains } from 'cairndb/text';
import { useCallback, useEffect, useState } from 'react';
import { AddTask } from './add-task';
import { Footer } from './footer';
import { NAMES, useList } from './route';
import { useSession } from './session';
import { TaskRow } from './task-row';
import { Undo } from './undo';

export function App() {
  const { user, db, tasks, logout } = useSession();
  const { name, criteria } = useList();
  const [search, setSearch] = useState('');
  const [deleted, setDeleted] = useState<string>();
  const [problem, setProblem] = useState<unknown>();
  const endUndo = useCallback(() => setDeleted(undefined), []);

  const { data: open } = useLiveCount(tasks, { done: false });
  const { data, error, has_more, loadMore } = useLivePages(
    tasks,
    { ...criteria, text: contains(search, { ignore_case: true }) },
    { sort: { _created_timestamp: -1 }, page_size: 50 },
  );

  // A save that failed; Cairn retries it.
  useEffect(() => db.on('error', ({ error }) => setProblem(error)), [db]);
  const shownProblem = problem ?? error;

  return (
    <main>
      <header>
        <h1>Tasks</h1>
        <output>{open !== undefined && `${open} open`}</output>
        <button type="button" onClick={logout}>
          Log out {user}
        </button>
      </header>
      <AddTask report={setProblem} />
      <nav aria-label="Lists">
        {NAMES.map((each) => (
          <a key={each} href={`#/${each}`} aria-current={each === name ? 'page' : undefined}>
            {each}
          </a>
        ))}
      </nav>
      <input
        type="search"
        aria-label="Search"
        placeholder="Search"
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      {shownProblem !== undefined && (
        <p className="problem" role="alert">
          {shownProblem instanceof Error ? shownProblem.message : String(shownProblem)}
        </p>
      )}
      <ul>
        {data?.map((task) => (
          <TaskRow key={task._id} task={task} deleted={setDeleted} report={setProblem} />
        ))}
      </ul>
      {data?.length === 0 && <p className="empty">Nothing here.</p>}
      {has_more && (
        <button type="button" onClick={loadMore}>
          Show more
        </button>
      )}
      <Footer report={setProblem} />
      {deleted && <Undo key={deleted} id={deleted} over={endUndo} report={setProblem} />}
    </main>
  );
}
