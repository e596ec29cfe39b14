import type { InspectedDatabase, SpecialIndexSize } from '../inspect/inspected-database.ts';
import { printShort } from '../values/print-value.ts';
import { button, facts, fill, h, table, type View } from './dom.ts';
import { bytes, clockText, count, messageOf } from './format-text.ts';

const STATUS = {
  persistent: 'persistent: kept until the user removes it',
  best_effort: 'best effort: the browser may evict it',
  memory: 'memory: gone with the page',
  unsupported: 'the browser does not say',
};

export function storageView(inspected: InspectedDatabase): View {
  const { db } = inspected;
  const problem = h('p', { class: 'problem', role: 'alert' });
  const use = h('div', {});
  const list = h('div', { class: 'results' });
  const indexes = indexTable(inspected);
  const ask = h('p', { class: 'summary', role: 'status' });
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
      indexes.element,
    ),
    refresh() {
      indexes.refresh?.();
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

const INDEX_HEADS = ['Collection', 'Index', 'State', 'Documents', 'Words', 'Memory'];

/** The indexes of words and vectors; asked for once more where documents have changed. */
function indexTable(inspected: InspectedDatabase): View {
  const element = h('div', { class: 'results' });
  /** By index; `undefined` while it is built. */
  const known = new Map<string, SpecialIndexSize | Error | undefined>();
  let version = -1;
  let asking = 0;
  return {
    element,
    refresh() {
      const all = inspected.specialIndexes();
      const { changes } = inspected.activity;
      if (asking === 0 && (version !== changes || all.length > known.size)) {
        version = changes;
        for (const { collection, index, size } of all) {
          const key = `${collection} ${index}`;
          asking++;
          size()
            .catch((error: unknown) => new Error(messageOf(error)))
            .then((found) => known.set(key, found))
            .finally(() => asking--);
        }
      }
      const rows = all.map(({ collection, index }) => {
        const found = known.get(`${collection} ${index}`);
        if (!found) return [collection, index, 'being built', '…', '…', '…'];
        if (found instanceof Error) return [collection, index, found.message, '–', '–', '–'];
        const { documents, words, bytes: size } = found;
        const sizes = [count(documents), words === undefined ? '–' : count(words), bytes(size)];
        return [collection, index, 'ready', ...sizes];
      });
      fill(element, rows.length > 0 && table('Indexes of words and vectors', INDEX_HEADS, rows));
    },
  };
}

const PLACES = { thread: 'this thread', worker: 'a worker of this page', tab: 'another tab' };
const STARTS = {
  file: 'from its file',
  inline: 'from a Blob (no worker file found)',
  given: 'by the app',
  thread: 'in this thread',
  tab: 'by another tab',
};

export function engineView({ db, activity }: InspectedDatabase): View {
  const problem = h('p', { class: 'problem', role: 'alert' });
  const status = h('div', {});
  const replications = h('div', {});
  const save = (): void => {
    db.save().then(
      () => fill(problem),
      (error: unknown) => fill(problem, messageOf(error)),
    );
  };
  return {
    element: h(
      'div',
      { class: 'pane' },
      status,
      h('div', { class: 'bar' }, button('Save now', save)),
      problem,
      replications,
    ),
    refresh() {
      const { state, engine, started, leader, storage, tabs, unsaved, ...times } = db.status;
      const { unsaved_since, last_save, last_error } = times;
      const since = unsaved > 0 ? `, since ${clockText(unsaved_since)}` : '';
      fill(
        status,
        facts([
          ['Database', db.name],
          ['State', h('span', { class: `state ${state}` }, state)],
          ['Leader', leader === undefined ? '–' : leader ? 'this page' : 'another tab'],
          ['Engine', engine && PLACES[engine]],
          ['Started', started && STARTS[started]],
          ['Storage', storage],
          ['Tabs', count(tabs)],
          ['Unsaved changes', `${count(unsaved)}${since}`],
          ['Last save', clockText(last_save)],
          ['Last error', last_error ? messageOf(last_error) : 'none'],
        ]),
      );
      const rows = [...activity.replications].map(
        ([collection, { collection: _, ...report }]) =>
          [collection, printShort(report, 300)] as const,
      );
      fill(replications, rows.length > 0 && h('b', {}, 'Replication'), facts(rows));
    },
  };
}
