import type { PipelineStage } from '../../src/index.ts';
import type { DocumentCollection } from '../../src/page/collections/document-collection.ts';
import type { LiveQuery } from '../../src/page/live/live-query.ts';
import type { Tab } from './tab.ts';

interface CustomerFields {
  _id: string;
  token: string;
  open: boolean;
  noise: number;
}

interface JobFields extends CustomerFields {
  customer_id: string;
}

/** Without their relations, whose types matter to none of this. */
export interface RelatedHandles {
  readonly customers: DocumentCollection<CustomerFields>;
  readonly jobs: DocumentCollection<JobFields>;
}

/** What a transaction has written, or all there is: by customer. */
export type RelatedState = Readonly<
  Record<string, { readonly open: boolean; readonly jobs: readonly string[] }>
>;

/** How a state comes to be. */
export interface Writes {
  readonly documents: {
    readonly customers: readonly CustomerFields[];
    readonly jobs: readonly JobFields[];
  };
  /** The jobs that are not there. */
  readonly absent: readonly string[];
}

export const CUSTOMERS = ['c1', 'c2', 'c3'] as const;

export const INITIAL: RelatedState = {
  c1: { open: true, jobs: ['j1', 'j2'] },
  c2: { open: false, jobs: ['j3', 'j4', 'j5'] },
  c3: { open: true, jobs: ['j6'] },
};

/** A customer with jobs, as a result shows them; by id. */
interface Row {
  readonly id: string;
  readonly token: string;
  readonly open: boolean;
  readonly jobs: readonly { readonly id: string; readonly token: string }[];
}

/** One question about both collections. */
export interface View {
  readonly name: string;
  readonly read: (handles: RelatedHandles) => Promise<unknown>;
  readonly live: (handles: RelatedHandles) => LiveQuery<unknown>;
  readonly rowsOf: (data: readonly never[]) => Row[];
  /** Which customers a result shows. */
  readonly shows: (customer: RelatedState[string]) => boolean;
}

export function openRelated({ db }: Tab, options: object): RelatedHandles {
  const customers: RelatedHandles['customers'] = new db.Collection({
    ...{ name: 'customers', type: 'DOCUMENT_BASED', ...options },
    relations: { jobs: { many: () => jobs, to: 'customer_id' } } as never,
  }) as never;
  const jobs: RelatedHandles['jobs'] = new db.Collection({
    ...{ name: 'jobs', type: 'DOCUMENT_BASED', ...options },
    relations: { customer: { one: () => customers, from: 'customer_id' } } as never,
  }) as never;
  return { customers, jobs };
}

const hasJobs: View['shows'] = ({ jobs }) => jobs.length > 0;
const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);

/** The fields that results are compared by: others change alone. */
const seen = ({ _id: id, token }: CustomerFields) => ({ id, token });

/** A job's token, unless the customer that it shows has another. */
function sameToken(token: string, customer: { token: string } | null | undefined): string {
  return customer === undefined || customer?.token === token ? token : 'several';
}

/** Rows of jobs, each with its customer. */
function rowsOfJobs(found: readonly (JobFields & { customer: CustomerFields })[]): Row[] {
  const rows = new Map<string, Row & { jobs: Row['jobs'][number][] }>();
  for (const job of found) {
    // A job without a customer is one of a transaction that is not there as a whole.
    const customer = job.customer ?? { _id: 'nobody', token: '', open: false };
    const row = rows.get(customer._id) ?? { ...seen(customer), open: customer.open, jobs: [] };
    rows.set(row.id, row);
    row.jobs.push(seen(job));
  }
  for (const { jobs } of rows.values()) jobs.sort(byId);
  return [...rows.values()].sort(byId);
}

/** Rows of customers, each with its jobs, and these perhaps with their customer again. */
function rowsOfCustomers(
  found: readonly (CustomerFields & { jobs: (JobFields & { customer?: CustomerFields })[] })[],
): Row[] {
  const rows = found.map(({ jobs, ...customer }) => ({
    ...{ ...seen(customer), open: customer.open },
    jobs: jobs
      .map(({ _id: id, token, customer }) => ({ id, token: sameToken(token, customer) }))
      .sort(byId),
  }));
  return rows.sort(byId);
}

/** Criteria of jobs. */
export function ofCustomers(customer: object): object {
  return { customer: { $some: customer } };
}

function collectionOf(handles: RelatedHandles, of: keyof RelatedHandles) {
  return handles[of] as unknown as DocumentCollection<CustomerFields>;
}

function list(
  of: keyof RelatedHandles,
  criteria: object,
  options: object,
): Pick<View, 'read' | 'live'> {
  return {
    read: (handles) => collectionOf(handles, of).filter(criteria, options as never),
    live: (handles) => collectionOf(handles, of).live(criteria, options as never) as never,
  };
}

function pipeline(of: keyof RelatedHandles, stages: PipelineStage[]): Pick<View, 'read' | 'live'> {
  return {
    read: (handles) => handles[of].aggregate(stages),
    live: (handles) => handles[of].liveAggregate(stages) as never,
  };
}

const deep = { jobs: { sort: { token: -1 }, include: { customer: { select: ['token'] } } } };

export const VIEWS: readonly View[] = [
  {
    name: 'customers with jobs',
    ...list('customers', {}, { include: deep }),
    rowsOf: rowsOfCustomers,
    shows: () => true,
  },
  {
    name: 'jobs of open customers',
    ...list('jobs', ofCustomers({ open: true }), { include: { customer: true } }),
    rowsOf: rowsOfJobs,
    shows: (customer) => customer.open && hasJobs(customer),
  },
  {
    name: 'customers with an open job',
    ...list(
      'customers',
      { jobs: { $some: { open: true } } },
      { include: { jobs: true }, sort: { token: 1 }, limit: 5 },
    ),
    rowsOf: rowsOfCustomers,
    shows: (customer) => customer.open && hasJobs(customer),
  },
  {
    name: 'jobs that look up their customers',
    ...pipeline('jobs', [
      {
        $lookup: {
          ...{ from: 'customers', localField: 'customer_id', foreignField: '_id' },
          as: 'customer',
        },
      },
      { $unwind: '$customer' },
      { $sort: { _id: 1 } },
    ]),
    rowsOf: rowsOfJobs,
    shows: hasJobs,
  },
  {
    name: 'customers that look up their jobs',
    ...pipeline('customers', [
      {
        $lookup: {
          from: 'jobs',
          let: { id: '$_id' },
          pipeline: [{ $match: { $expr: { $eq: ['$customer_id', '$$id'] } } }],
          as: 'jobs',
        },
      },
    ]),
    rowsOf: rowsOfCustomers,
    shows: () => true,
  },
];
