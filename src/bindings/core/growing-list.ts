import { OptionError } from '../../errors/option-error.ts';
import { keyOf } from './canonical-key.ts';
import type { LivePages, LiveResult, Running, Source } from './hook-result.ts';

type Query<D> = Source<LiveResult<readonly D[]>>;

/**
 * A list that grows by pages: a live query whose `limit` grows. The list before stays until the longer one is there,
 * and its documents stay the same objects in it.
 *
 * @param open Makes the query with a limit.
 * @param start Before the first result.
 * @throws {OptionError} `option_invalid`
 */
export function growingList<D extends object>(
  open: (limit: number) => Query<D>,
  page_size: number,
  start: LivePages<D>,
): Running<LivePages<D>> {
  if (!(Number.isSafeInteger(page_size) && page_size > 0)) {
    const message = `"page_size" must be a whole number, 1 or more, not ${page_size}.`;
    throw new OptionError('option_invalid', message, { place: 'page_size' });
  }
  let limit = page_size;
  // One more document shows whether there is another page.
  let query = open(limit + 1);
  let stop: (() => void) | undefined;
  let notify: (() => void) | undefined;
  /** The shown object for each document of a query. */
  const shown = new WeakMap<D, D>();

  const loadMore = () => {
    if (!stop || view.status !== 'ready' || !view.has_more) return;
    limit += page_size;
    run(open(limit + 1));
  };
  let view = start;

  /** Unchanged documents are the same objects in the longer list. */
  const shownList = (found: readonly D[]) => {
    const before = new Map(view.data?.map((document) => [idOf(document), document]));
    return found.slice(0, limit).map((document) => {
      const known = before.get(idOf(document));
      const same =
        shown.get(document) ?? (known && keyOf(known) === keyOf(document) ? known : document);
      shown.set(document, same);
      return same;
    });
  };

  const take = () => {
    const result = query.view();
    const found = result.data;
    const list = found && shownList(found);
    const data = list && isEqual(list, view.data) ? view.data : (list ?? view.data);
    const next = {
      ...result,
      data,
      is_stale: data !== undefined && result.status !== 'ready',
      has_more: found ? found.length > limit : view.has_more,
      loadMore,
    } as LivePages<D>;
    if (isEqual(Object.values(next), Object.values(view))) return;
    view = next;
    notify?.();
  };

  const run = (next: Query<D>) => {
    const leave = stop;
    query = next;
    stop = next.subscribe(() => next === query && take());
    leave?.();
    take();
  };

  return {
    key: `pages ${query.key}`,
    subscribe: (listener) => {
      notify = listener;
      run(query);
      return () => {
        stop?.();
        stop = undefined;
      };
    },
    view: () => view,
  };
}

const idOf = (document: object) => (document as { readonly _id: string })._id;

function isEqual(a: readonly unknown[], b: readonly unknown[] | undefined): boolean {
  return a.length === b?.length && a.every((value, index) => value === b[index]);
}
