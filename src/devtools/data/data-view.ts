import type { DocumentCollection } from '../../page/collections/document-collection.ts';
import type { KeyValueCollection } from '../../page/collections/key-value-collection.ts';
import type { CollectionEntry, InspectedDatabase } from '../inspect/inspected-database.ts';
import { button, fill, h, type View } from '../views/dom.ts';
import { bytes, messageOf } from '../views/format-text.ts';
import { documentsPane } from './documents-pane.ts';
import { keyValuesPane } from './key-values-pane.ts';

const noCollections = (): HTMLElement =>
  h(
    'div',
    { class: 'empty' },
    h('p', {}, 'A collection is listed here once the app makes it:'),
    h('code', {}, "new db.Collection({ name: 'notes', type: 'DOCUMENT_BASED' })"),
  );

const chooseOne = (): HTMLElement =>
  h('p', { class: 'empty' }, 'The page has opened none of the collections. Choose one.');

export function dataView(inspected: InspectedDatabase): View {
  const list = h('nav', { class: 'list', 'aria-label': 'Collections' });
  const content = h('div', { class: 'content' });
  const element = h('div', { class: 'split' }, list, content);
  let entries: readonly CollectionEntry[] = [];
  let shown: string | undefined;
  let pane: View | undefined;
  /** The handle of the pane: after a drop the app makes another. */
  let used: ReturnType<InspectedDatabase['handle']>;
  let listed = '';
  let isLoading = false;

  const select = (entry: CollectionEntry): void => {
    shown = entry.name;
    pane?.close?.();
    pane = paneOf(entry);
    fill(content, pane.element);
    pane.refresh?.();
    draw();
  };

  const paneOf = (entry: CollectionEntry): View => {
    const collection = inspected.handle(entry.name);
    used = collection;
    if (!collection) return closedPane(entry);
    return entry.type === 'DOCUMENT_BASED'
      ? documentsPane(inspected, collection as DocumentCollection)
      : keyValuesPane(inspected, collection as KeyValueCollection);
  };

  const closedPane = (entry: CollectionEntry): View => {
    const problem = h('p', { class: 'problem', role: 'alert' });
    const open = (): void => {
      inspected.open(entry).then(
        () => select({ ...entry, isOpen: true }),
        (error: unknown) => fill(problem, messageOf(error)),
      );
    };
    const text = `No handle of this page has “${entry.name}” open, so its options are unknown. Opening it here uses the defaults: no stamps, no caching. They stay until every tab is reloaded, also for the app.`;
    return {
      element: h('div', { class: 'empty' }, h('p', {}, text), button('Open anyway', open), problem),
    };
  };

  const draw = (): void => {
    const items = entries.map((entry) => {
      const isShown = entry.name === shown;
      const kind = entry.type === 'DOCUMENT_BASED' ? '' : 'keys · ';
      const size = entry.isOpen ? bytes(entry.bytes) : `${bytes(entry.bytes)} · not open`;
      return button('', () => select(entry), {
        class: 'item',
        'aria-current': isShown ? 'true' : undefined,
        'data-name': entry.name,
      }).appendChild(h('span', {}, h('b', {}, entry.name), h('small', {}, `${kind}${size}`)))
        .parentElement as HTMLElement;
    });
    if (!shown) fill(content, entries.length === 0 ? noCollections() : chooseOne());
    const focused = (list.getRootNode() as ShadowRoot).activeElement?.getAttribute('data-name');
    fill(list, ...items, entries.length === 0 && h('p', { class: 'empty' }, 'No collection yet.'));
    if (focused) items.find(({ dataset }) => dataset.name === focused)?.focus();
  };

  /**
   * Whether the handle of the pane was dropped, and the app has another. One more handle alone
   * changes nothing.
   */
  const isReplaced = async ({ name }: CollectionEntry): Promise<boolean> => {
    if (inspected.handle(name) === used) return false;
    return used === undefined || used.ready.then(() => false).catch(() => true);
  };

  const load = async (): Promise<void> => {
    entries = await inspected.collections();
    const now = JSON.stringify(entries);
    if (now !== listed) draw();
    listed = now;
    const selected = entries.find(({ name }) => name === shown);
    if (selected && (await isReplaced(selected))) select(selected);
    const [first] = entries.filter(({ isOpen }) => isOpen);
    if (shown === undefined && first) select(first);
  };

  return {
    element,
    refresh() {
      if (isLoading) return;
      isLoading = true;
      load()
        .catch((error: unknown) => fill(list, h('p', { class: 'problem' }, messageOf(error))))
        .finally(() => {
          isLoading = false;
        });
    },
    close: () => pane?.close?.(),
  };
}
