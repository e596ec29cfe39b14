import type { Connection, DocumentOf, StandardSchema } from 'cairndb';
import { expectTypeOf, test } from 'vitest';

interface Customer {
  name: string;
  blocked?: boolean;
}
interface Technician {
  name: string;
}
interface Visit {
  job_id: string;
  technician_id: string;
  at: Date;
  done: boolean;
}
interface Job {
  customer_id: string;
  tag_ids: string[];
  status: string;
}

declare const db: Connection;

// Interfaces, so that collections may name each other.
interface CustomerRelations {
  jobs: (typeof jobs)[];
}
interface VisitRelations {
  technician: typeof technicians;
  job: typeof jobs;
}
interface JobRelations {
  customer: typeof customers;
  visits: (typeof visits)[];
}

const technicians = new db.Collection<Technician>({ name: 'technicians', type: 'DOCUMENT_BASED' });
const customers = new db.Collection<Customer, CustomerRelations>({
  name: 'customers',
  type: 'DOCUMENT_BASED',
  indicate_created_at: true,
  relations: { jobs: { many: () => jobs, to: 'customer_id' } },
});
const visits = new db.Collection<Visit, VisitRelations>({
  name: 'visits',
  type: 'DOCUMENT_BASED',
  relations: {
    technician: { one: () => technicians, from: 'technician_id' },
    job: { one: () => jobs, from: 'job_id' },
  },
});
const jobs = new db.Collection<Job, JobRelations>({
  name: 'jobs',
  type: 'DOCUMENT_BASED',
  relations: {
    customer: { one: () => customers, from: 'customer_id' },
    visits: { many: () => visits, to: 'job_id' },
  },
});

test('included documents have the types of their collections', async () => {
  const [job] = await jobs.filter(
    { status: 'open' },
    {
      include: {
        customer: true,
        visits: {
          where: { done: false },
          sort: { at: -1 },
          limit: 3,
          include: { technician: true },
        },
      },
    },
  );
  expectTypeOf(job?.status).toEqualTypeOf<string | undefined>();
  if (!job) return;
  expectTypeOf(job.customer).toEqualTypeOf<DocumentOf<typeof customers> | null>();
  expectTypeOf(job.customer?._created_at).toEqualTypeOf<Date | undefined>();
  expectTypeOf(job.visits[0]?.technician?.name).toEqualTypeOf<string | undefined>();
  expectTypeOf(job.visits[0]?.at).toEqualTypeOf<Date | undefined>();

  const back = await customers.find({}, { include: { jobs: { include: { customer: true } } } });
  expectTypeOf(back?.jobs[0]?.customer?.name).toEqualTypeOf<string | undefined>();

  const one = await jobs.get('a', { include: { customer: true } });
  expectTypeOf(one?.customer?.name).toEqualTypeOf<string | undefined>();
  const many = await jobs.getMany(['a'], { include: { visits: true } });
  expectTypeOf(many[0]?.visits[0]?.done).toEqualTypeOf<boolean | undefined>();

  const picked = await jobs.find(
    {},
    { select: ['status'], include: { customer: { select: ['name'] } } },
  );
  expectTypeOf(picked).toEqualTypeOf<
    | ({ _id: string; status: string } & { customer: { _id: string; name: string } | null })
    | undefined
  >();
  // @ts-expect-error No field of a partner.
  expectTypeOf(picked?.customer?.blocked).toBeUnknown();
});

test('criteria take conditions on partners', async () => {
  await jobs.filter({ visits: { $some: { done: false } }, customer: { $none: { blocked: true } } });
  await jobs.count({ visits: { $every: { technician: { $some: { name: 'Ada' } } } } });
  // @ts-expect-error Another type.
  await jobs.filter({ visits: { $some: { done: 'no' } } });
  // @ts-expect-error No such relation.
  await jobs.filter({ visit: { $some: {} } });
  // @ts-expect-error No such relation.
  await jobs.filter({}, { include: { visit: true } });
  // @ts-expect-error Another type.
  await jobs.filter({}, { include: { visits: { where: { done: 'no' } } } });
  // @ts-expect-error It has no relations.
  await technicians.filter({}, { include: { visits: true } });
});

declare const schema: StandardSchema<{ name: string }, { name: string }>;

test('a schema goes with relations', async () => {
  const named = new db.Collection({
    name: 'named',
    type: 'DOCUMENT_BASED',
    schema,
    relations: { customer: { one: () => customers, from: 'name' } },
  });
  const found = await named.find({ name: 'a' }, { include: { customer: true } });
  expectTypeOf(found?.name).toEqualTypeOf<string | undefined>();
  expectTypeOf(found?.customer).toEqualTypeOf<unknown>();
});

test('relations without types take any name', async () => {
  const loose = new db.Collection<Job>({
    name: 'loose',
    type: 'DOCUMENT_BASED',
    relations: { customer: { one: () => customers, from: 'customer_id' } },
  });
  const found = await loose.filter(
    { customer: { $some: { blocked: true } } },
    { include: { customer: { where: { blocked: true }, sort: { name: 1 } } } },
  );
  expectTypeOf(found[0]?.customer).toEqualTypeOf<unknown>();
  expectTypeOf(found[0]?.status).toEqualTypeOf<string | undefined>();
});
