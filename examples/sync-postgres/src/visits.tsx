import type { Stored } from 'cairndb';
import { useLiveQuery } from 'cairndb/react';
import { isOffice, type Job, TECHNICIANS, user, type Visit, visits } from './database';
import { Photo } from './photo';

const { format } = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** The visit of this technician: from arriving to leaving, with photos. */
export function MyVisit({ job }: { job: Stored<Job> }) {
  const mine = { job: job._id, technician: user, left: { $exists: false } };
  const { data: [visit] = [] } = useLiveQuery(visits, mine);
  const arrive = () =>
    visits.insert({
      customer: job.customer,
      job: job._id,
      technician: user,
      arrived: new Date(),
      photos: [],
    });
  if (!visit)
    return (
      <button type="button" onClick={arrive}>
        Arrive
      </button>
    );
  const add = (file: File) => visits.patch(visit._id, { $push: { photos: file } });
  return (
    <section>
      <Photos visit={visit} />
      <div className="row">
        <label className="button">
          Add a photo
          <input
            type="file"
            accept="image/*"
            capture="environment"
            onChange={({ target: { files } }) => files?.[0] && add(files[0])}
          />
        </label>
        <button type="button" onClick={() => visits.patch(visit._id, { left: new Date() })}>
          Leave
        </button>
      </div>
    </section>
  );
}

/** All visits at a customer, also of others: they are on this device while somebody looks. */
export function History({ customer }: { customer: string }) {
  const { data: list = [], error } = useLiveQuery(
    visits,
    { customer },
    { sort: { arrived: -1 }, sync: isOffice ? undefined : { customer } },
  );
  if (error) return <p role="alert">{error.message}</p>;
  if (list.length === 0) return <p className="faint">No visits yet.</p>;
  return list.map((visit) => (
    <section key={visit._id}>
      <p>
        {TECHNICIANS[visit.technician]}, {format(visit.arrived)}
      </p>
      <Photos visit={visit} />
    </section>
  ));
}

function Photos({ visit: { _id, photos } }: { visit: Stored<Visit> }) {
  return (
    <div className="row">
      {photos.map((_, index) => (
        <Photo key={index} visit={_id} path={`photos.${index}`} />
      ))}
    </div>
  );
}
