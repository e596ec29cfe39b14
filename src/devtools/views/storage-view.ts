import type { InspectedDatabase } from '../inspect/inspected-database.ts';
import { button, facts, fill, h, table, type View } from './dom.ts';
import { bytes, clockText, messageOf } from './format-text.ts';

const STATUS = {
  persistent: 'persistent: kept until the user removes it',
  best_effort: 'best effort: the browser may evict it',
  memory: 'memory: gone with the page',
  unsupported: 'the browser does not say',
};

/** What the database stores, and what the browser allows. */
export function storageView(inspected: InspectedDatabase): View {
  const { db } = inspected;
  const problem = h('p', { class: 'problem', role: 'alert' });
  const use = h('div', {});
  const list = h('div', { class: 'results' });
  const ask = h('p', { class: 'told', role: 'status' });
  let drawn = '';
  let isLoading = false;

  const persist = (): void => {
    db.storage.persist().then(
      (kept) =>
        fill(ask, kept === true ? 'The browser keeps the data.' : `The browser says: ${kept}.`),
      (error: unknown) => fill(problem, messageOf(error)),
    );
  };

  const load = async (): Promise<void> => {
    const [{ usage, quota, collections }, status] = await Promise.all([
      inspected.estimate(),
      db.storage.status,
    ]);
    const now = JSON.stringify([usage, quota, collections, status]);
    if (now === drawn) return;
    drawn = now;
    const share =
      typeof usage === 'number' && typeof quota === 'number' && quota > 0
        ? ` (${((usage / quota) * 100).toFixed(1)} %)`
        : '';
    fill(
      use,
      facts([
        ['Status', STATUS[status]],
        ['Used by this site', typeof usage === 'number' ? `${bytes(usage)}${share}` : usage],
        ['Quota', typeof quota === 'number' ? bytes(quota) : quota],
      ]),
    );
    const rows = collections.map(({ collection, type, cached_until, ...sizes }) => [
      collection,
      type === 'DOCUMENT_BASED' ? 'documents' : 'keys and values',
      bytes(sizes.bytes),
      bytes(sizes.backup_bytes),
      cached_until === undefined || cached_until === 'never'
        ? cached_until
        : clockText(cached_until),
    ]);
    const heads = ['Collection', 'Type', 'Data', 'Only in backups', 'Cached until'];
    fill(list, rows.length > 0 && table('Collections', heads, rows));
  };

  return {
    element: h(
      'div',
      { class: 'pane' },
      use,
      h('div', { class: 'bar' }, button('Ask for persistent storage', persist), ask),
      problem,
      list,
    ),
    refresh() {
      if (isLoading) return;
      isLoading = true;
      load()
        .then(
          () => fill(problem),
          (error: unknown) => fill(problem, messageOf(error)),
        )
        .finally(() => {
          isLoading = false;
        });
    },
  };
}
