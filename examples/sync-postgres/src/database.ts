import { connect } from 'cairndb';
import { outbox } from 'cairndb/outbox';
import { type FilePlaceholder, http, replicate } from 'cairndb/replication';

export interface Customer {
  name: string;
  address: string;
}

export interface Job {
  title: string;
  customer: string;
  technician: string;
  note: string;
  checklist: { id: string; text: string; done: boolean }[];
}

export interface Visit {
  customer: string;
  job: string;
  technician: string;
  arrived: Date;
  left?: Date;
  photos: (Blob | FilePlaceholder)[];
}

export interface Part {
  name: string;
  left: number;
  ordered: number;
}

/** By their ids, which are those of their sessions. */
export const TECHNICIANS: Readonly<Record<string, string>> = { ada: 'Ada', ben: 'Ben' };

export const user = new URLSearchParams(location.search).get('user') ?? '';
export const isOffice = user === 'office';

/** Each user has a database: people who share a device share no data. */
const db = connect({ name: `field service of ${user}` });
const type = 'DOCUMENT_BASED';
export const customers = new db.Collection<Customer>({ name: 'customers', type });
export const jobs = new db.Collection<Job>({ name: 'jobs', type, indexes: ['technician'] });
export const visits = new db.Collection<Visit>({ name: 'visits', type, indexes: ['customer'] });
export const stock = new db.Collection<Part>({ name: 'stock', type });

/** One object for all: collections with the same headers share a stream of changes. */
const headers = { authorization: `Bearer ${user}` };
const remote = (collection: string) =>
  http({ url: `${location.origin}/sync/${collection}`, headers });

/** A technician has his own jobs and visits, the office has all. */
const scopes = isOffice ? undefined : [{ technician: user }];

export const syncs = {
  customers: replicate(customers, { remote: remote('customers') }),
  jobs: replicate(jobs, {
    remote: remote('jobs'),
    scopes,
    merge: { checklist: { by: 'id' } }, // two people who tick different items lose no tick
  }),
  // Photos travel apart, and are loaded when somebody looks at them.
  visits: replicate(visits, { remote: remote('visits'), scopes, files: 'lazy' }),
  stock: replicate(stock, { remote: remote('stock') }),
};

interface Order {
  part: string;
  count: number;
}

/** A call that must reach the supplier once: the order waits here for a network. */
export const orders = outbox(db, {
  order: {
    local: (tx, { part, count }: Order) => tx(stock).patch(part, { $inc: { ordered: count } }),
    send: (order, { key, signal }) =>
      fetch('/orders', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify(order),
        signal,
      }),
    refused: (tx, { part, count }) => tx(stock).patch(part, { $inc: { ordered: -count } }),
  },
});
