import { type Body, encode } from '../codec/body.ts';
import { isPlainObject } from '../codec/kinds.ts';
import type { After } from '../engine/protocol.ts';
import { type FindQuery, parseFindQuery } from './find-query.ts';

/** Where a page ended, and in what order. */
interface PageEnd extends Omit<After, 'id'> {
  readonly order: number;
  readonly sort: string | undefined;
}

/** Where pages ended, by the last document of each, which callers hand back as `after`. */
const pageEnds = new WeakMap<object, PageEnd>();

/** As {@link parseFindQuery} does, with the option `after`. */
export function parsePagedQuery(params: unknown, options: unknown, most?: number): FindQuery {
  const query = parseFindQuery(params, options, most);
  const { after } = (options ?? {}) as { after?: { readonly _id: string } };
  if (after === undefined) return query;
  const { selection } = query;
  return { ...query, selection: { ...selection, after: pageEnd(after, selection.sort) } };
}

/** Remembers where a page of these results ended. */
export function notePageEnd(
  document: object | undefined,
  { selection }: FindQuery,
  end: { readonly order: number; readonly key?: unknown; readonly body?: Body },
): void {
  if (document) pageEnds.set(document, { ...end, sort: JSON.stringify(selection.sort) });
}

function pageEnd(document: { readonly _id: string }, order: object | undefined): After {
  const { _id: id } = document;
  const { sort, ...end }: Partial<PageEnd> = pageEnds.get(document) ?? {};
  // What it was sorted by counts, whatever it is now; in another order the document itself has to tell.
  if (end.order !== undefined && sort === JSON.stringify(order)) return { id, ...end };
  const body = encode(isPlainObject(document) ? document : {}, 'after');
  return { id, order: end.order, body };
}
