import type { Stored } from 'cairndb';
import type { Conflict } from 'cairndb/replication';
import { useEffect, useState } from 'react';
import { type Job, jobs, syncs } from './database';

/** Notes that two people wrote at once: the server's stays, unless somebody decides otherwise. */
export function Conflicts() {
  const [list, setList] = useState<readonly Conflict<Stored<Job>>[]>([]);
  useEffect(
    () => syncs.jobs.on('conflict', (conflict) => setList((old) => [...old, conflict])),
    [],
  );
  return list.map((conflict) => {
    const { id, local, remote } = conflict;
    const close = () => setList((old) => old.filter((one) => one !== conflict));
    return (
      <p key={`${id} ${conflict.at.getTime()}`} className="conflict">
        “{remote?.note}” has replaced “{local?.note}” in {local?.title}.
        <button type="button" onClick={close}>
          Fine
        </button>
        <button
          type="button"
          // A change like any other: it reaches all devices.
          onClick={() => jobs.patch(id, { note: local?.note ?? '' }).then(close)}
        >
          Take mine
        </button>
      </p>
    );
  });
}
