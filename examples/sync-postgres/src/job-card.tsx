import type { Stored } from 'cairndb';
import { useDraft, useLiveDocument } from 'cairndb/react';
import { useState } from 'react';
import { customers, isOffice, type Job, jobs } from './database';
import { TechnicianOptions } from './new-job';
import { History, MyVisit } from './visits';

/** A job: its customer, its checklist, and the visits there. */
export function JobCard({ job }: { job: Stored<Job> }) {
  const { data: customer } = useLiveDocument(customers, job.customer);
  const { draft = job, set, save } = useDraft(jobs, job._id);
  const [isOpen, setOpen] = useState(false);
  const tick = (id: string, done: boolean) => {
    set({ checklist: draft.checklist.map((item) => (item.id === id ? { ...item, done } : item)) });
    return save();
  };
  return (
    <article aria-label={job.title}>
      <h2>{job.title}</h2>
      <p className="faint">{customer && `${customer.name}, ${customer.address}`}</p>
      <ul>
        {draft.checklist.map(({ id, text, done }) => (
          <li key={id}>
            <label>
              <input
                type="checkbox"
                checked={done}
                onChange={(event) => tick(id, event.target.checked)}
              />
              {text}
            </label>
          </li>
        ))}
      </ul>
      <input
        aria-label="Note"
        placeholder="Note"
        value={draft.note}
        onChange={(event) => set({ note: event.target.value })}
        onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
        onBlur={() => save()}
      />
      {isOffice ? <Technician job={job} /> : <MyVisit job={job} />}
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Visits</summary>
        {isOpen && <History customer={job.customer} />}
      </details>
    </article>
  );
}

/** Another technician: the job goes away from one device and comes to the other. */
function Technician({ job }: { job: Stored<Job> }) {
  return (
    <label>
      Technician{' '}
      <select
        value={job.technician}
        onChange={(event) => jobs.patch(job._id, { technician: event.target.value })}
      >
        <TechnicianOptions />
      </select>
    </label>
  );
}
