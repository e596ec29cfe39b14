import { useLiveQuery } from 'cairndb/react';
import type { FormEvent } from 'react';
import { customers, jobs, TECHNICIANS } from './database';

const STEPS = ['Look for leaks', 'Change the filter', 'Make a test run'];

/** The office writes jobs. Technicians get theirs within a moment. */
export function NewJob() {
  const { data: list = [] } = useLiveQuery(customers, {}, { sort: { name: 1 } });

  function add(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    const field = (name: string) => String(new FormData(form).get(name));
    const checklist = STEPS.map((text, index) => ({ id: String(index), text, done: false }));
    const [title, customer, technician] = [field('title'), field('customer'), field('technician')];
    form.reset();
    return jobs.insert({ title, customer, technician, note: '', checklist });
  }

  return (
    <form onSubmit={add}>
      <h2>New job</h2>
      <input name="title" aria-label="Title" placeholder="Title" required />
      <div className="row">
        <select name="customer" aria-label="Customer">
          {list.map(({ _id, name }) => (
            <option key={_id} value={_id}>
              {name}
            </option>
          ))}
        </select>
        <select name="technician" aria-label="Technician of the new job">
          <TechnicianOptions />
        </select>
        <button type="submit">Add</button>
      </div>
    </form>
  );
}

export function TechnicianOptions() {
  return Object.entries(TECHNICIANS).map(([id, name]) => (
    <option key={id} value={id}>
      {name}
    </option>
  ));
}
