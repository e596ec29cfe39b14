import { type Body, encode } from '../../codec/body.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import type { After, ArchivedFilter, Selection } from '../../engine/protocol/requests.ts';
import { holdsPattern } from './holds-pattern.ts';
import { passesPredicate } from './predicate.ts';
import { checkSearch, type Search } from './search.ts';

type Test = (document: never) => unknown;

/** What a caller looks for: the engine's part of it, and what is left to do here. */
export interface FindQuery {
  readonly selection: Selection;
  /** The functions that a document has to pass. */
  readonly test: ((document: object) => boolean) | undefined;
  readonly skip: number;
  readonly limit: number;
  /** Paths to keep, where the engine cannot because functions want whole documents. */
  readonly select: readonly string[] | undefined;
}

/** Where a page ended, and in what order. */
interface PageEnd extends Omit<After, 'id'> {
  readonly rank: number;
  readonly sort: string | undefined;
}

/** Where pages ended, by the last document of each, which callers hand back as `after`. */
const pageEnds = new WeakMap<object, PageEnd>();

/** As {@link findQuery} of what is given, with its errors. */
export function parseFindQuery(params: unknown, options: unknown, most?: number): FindQuery {
  return findQuery(checkSearch(params, options), most);
}

/** With a function in it the engine delivers what the criteria match, and the rest is done here. */
export function findQuery(
  { params, given, sort, select }: Search,
  most = Number.POSITIVE_INFINITY,
): FindQuery {
  const isTest = typeof params === 'function';
  const tests = [isTest ? params : undefined, given.where].filter(Boolean) as Test[];
  const skip = (given.skip as number | undefined) ?? 0;
  const limit = Math.min((given.limit as number | undefined) ?? most, most);
  const criteria = isTest ? undefined : params;
  const selection: Selection = {
    criteria,
    mayHang: holdsPattern(criteria) || undefined,
    archived: (given.archived as ArchivedFilter | undefined) ?? false,
    sort,
    after: given.after === undefined ? undefined : pageEnd(given.after as { _id: string }, sort),
  };
  if (tests.length === 0) {
    return {
      selection: {
        ...selection,
        skip,
        limit: Number.isFinite(limit) ? limit : undefined,
        select,
        all: true,
      },
      test: undefined,
      skip: 0,
      limit: Number.POSITIVE_INFINITY,
      select: undefined,
    };
  }
  const test = (document: object) =>
    tests.every((each) => passesPredicate(each, document as never));
  // The engine checks what is asked for even where nothing is wanted.
  const asked = limit === 0 ? { ...selection, limit } : selection;
  return { selection: asked, test, skip, limit, select };
}

function pageEnd(document: { readonly _id: string }, order: object | undefined): After {
  const { _id: id } = document;
  const { sort, ...end }: Partial<PageEnd> = pageEnds.get(document) ?? {};
  // What it was sorted by counts, whatever it is now; in another order the document itself has to tell.
  if (end.rank !== undefined && sort === JSON.stringify(order)) return { id, ...end };
  const body = encode(isPlainObject(document) ? document : {}, 'after');
  return { id, rank: end.rank, body };
}

/** Remembers where a page of these results ended. */
export function notePageEnd(
  document: object | undefined,
  { selection }: FindQuery,
  end: { readonly rank: number; readonly key?: unknown; readonly body?: Body },
): void {
  if (document) pageEnds.set(document, { ...end, sort: JSON.stringify(selection.sort) });
}
