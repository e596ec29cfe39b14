import { useLiveQuery } from 'cairndb/react';
import { useEffect, useState } from 'react';
import { Conflicts } from './conflicts';
import { isOffice, jobs, orders, TECHNICIANS, user } from './database';
import { JobCard } from './job-card';
import { NewJob } from './new-job';
import { Stock } from './stock';
import { SyncState } from './sync-state';

export function App() {
  const { data: list = [], status } = useLiveQuery(jobs, {}, { sort: { title: 1 } });
  return (
    <main>
      <header>
        <h1>{isOffice ? 'All jobs' : `Jobs of ${TECHNICIANS[user]}`}</h1>
        <SyncState />
      </header>
      <Problem />
      <Conflicts />
      {list.map((job) => (
        <JobCard key={job._id} job={job} />
      ))}
      {status === 'ready' && list.length === 0 && <p className="faint">No jobs.</p>}
      {isOffice && <NewJob />}
      <Stock />
    </main>
  );
}

/** What fails anywhere is shown here: no call of the app catches errors. */
function Problem() {
  const [problem, setProblem] = useState('');
  useEffect(() => {
    const show = ({ reason }: PromiseRejectionEvent) => setProblem(String(reason?.message));
    addEventListener('unhandledrejection', show);
    const stop = orders.on('refused', ({ error }) => setProblem(error.answer ?? error.message));
    return () => {
      removeEventListener('unhandledrejection', show);
      stop();
    };
  }, []);
  return problem && <p role="alert">{problem}</p>;
}
