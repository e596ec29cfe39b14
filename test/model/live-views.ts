import type { LiveOptions, LiveQuery, Params, Predicate, Stored } from '../../src/index.ts';
import type { DocumentCollection } from '../../src/page/collections/document-collection.ts';

/** A document of the model test. */
export interface Thing {
  n: number;
  k?: string;
  d?: Date;
}

type Things = DocumentCollection<Thing>;
type Found = Stored<Thing>;
/** Checked where they are written, in the list below. */
type Criteria = object;
type SelectOption = readonly ('n' | 'k' | 'd')[];

/** What the test looks at of a live query, whatever it shows. */
export type Shown = Pick<LiveQuery<unknown>, 'subscribe' | 'getSnapshot' | 'ready'>;

/** A live query, and what it has to show of all documents, archived ones included. */
export interface View {
  readonly open: (things: Things) => Shown;
  readonly expected: (all: readonly Found[]) => unknown;
}

function list(
  params: Criteria | Predicate<Thing>,
  matches: (thing: Found) => boolean,
  options: LiveOptions<Thing, never, SelectOption> = {},
): View {
  const { archived = false, sort, skip = 0, limit = Number.POSITIVE_INFINITY, select } = options;
  const [[field, direction] = []] = Object.entries(sort ?? {});
  return {
    open: (things) => things.live(params as Params<Thing>, options),
    expected: (all) => {
      const found = all.filter(
        (thing) =>
          (archived === true || thing._archived === (archived === 'only')) && matches(thing),
      );
      if (field) found.sort((a, b) => compare(a, b, field) * (direction as number));
      const window = found.slice(skip, skip + limit);
      return select ? window.map((thing) => only(thing, select)) : window;
    },
  };
}

/** Missing comes first. */
function compare(a: Found, b: Found, field: string): number {
  const of = (thing: Found): string => (thing as never)[field] ?? '';
  return of(a) < of(b) ? -1 : Number(of(a) > of(b));
}

function only(thing: Found, select: readonly string[]): object {
  const kept = Object.entries(thing).filter(([field]) => field === '_id' || select.includes(field));
  return Object.fromEntries(kept);
}

const isOdd = ({ n }: Thing) => n % 2 === 1;

export const views: readonly View[] = [
  list({}, () => true),
  list({ n: { $gte: 2 } }, ({ n }) => n >= 2, { sort: { n: 1 } }),
  list({ n: { $gte: 1 } }, ({ n }) => n >= 1, { sort: { n: -1 }, skip: 1, limit: 2 }),
  list({ k: 'a' }, ({ k }) => k === 'a', { limit: 3 }),
  list({}, () => true, { select: ['n'], sort: { k: 1 }, limit: 4 }),
  list({ k: { $ne: 'b' } }, ({ k }) => k !== 'b', { archived: true, select: ['d', 'n'] }),
  list({}, () => true, { archived: 'only', sort: { _id: -1 } }),
  list(isOdd, isOdd, { sort: { n: 1 }, skip: 1, limit: 3, select: ['d', 'k'] }),
  list({ _updated: true }, (thing) => thing._updated && isOdd(thing), { where: isOdd }),
  {
    open: (things) => things.liveCount({ n: { $lt: 3 } }),
    expected: (all) => all.filter(({ n, _archived }) => n < 3 && !_archived).length,
  },
  {
    open: (things) => things.liveCount(isOdd, { archived: 'only' }),
    expected: (all) => all.filter((thing) => thing._archived && isOdd(thing)).length,
  },
  {
    open: (things) => things.liveDocument('d1'),
    expected: (all) => all.find(({ _id }) => _id === 'd1'),
  },
];
