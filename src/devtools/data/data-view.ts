import type { DocumentCollection } from '../../page/collections/document-collection.ts';
import type { KeyValueCollection } from '../../page/collections/key-value-collection.ts';
import type { CollectionEntry, InspectedDatabase } from '../inspect/inspected-database.ts';
import { printShort, printValue } from '../values/print-value.ts';
import { button, field, fill, h, table, type View } from '../views/dom.ts';
import { bytes, messageOf, pageText } from '../views/format-text.ts';
import { documentsPane } from './documents-pane.ts';
import { onChanges, PAGE_ROWS, PageButtons } from './page-buttons.ts';
import { valueEditor } from './value-editor.ts';

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

/** The records of a key-value collection, page by page, up to date. */
function keyValuesPane(inspected: InspectedDatabase, collection: KeyValueCollection): View {
  const filter = h('input', { type: 'search', placeholder: 'part of a key', spellcheck: 'false' });
  const problem = h('p', { class: 'problem', role: 'alert' });
  const summary = h('p', { class: 'summary', role: 'status' });
  const results = h('div', { class: 'results' });
  const pages = new PageButtons(() => load());
  let loads = 0;
  let isEditing = false;

  const load = (): void => {
    const own = ++loads;
    show(() => own === loads).catch((error: unknown) => fill(problem, messageOf(error)));
  };

  const show = async (isCurrent: () => boolean): Promise<void> => {
    const part = filter.value.toLowerCase();
    const keys = (await collection.keys()).filter((key) => key.toLowerCase().includes(part));
    if (!pages.limitTo(keys.length)) return load();
    const shown = keys.slice(pages.first, pages.first + PAGE_ROWS);
    // As a list of segments: a dot in a name is no path.
    const values = await Promise.all(shown.map((key) => collection.get([key])));
    if (!isCurrent()) return;
    fill(problem);
    fill(summary, pageText(pages.first, shown.length, keys.length));
    if (isEditing) return;
    const rows = shown.map((key, index) => {
      const label = { class: 'id', title: key };
      return [
        button(printShort(key, 40), () => edit(key, values[index]), label),
        printShort(values[index], 120),
      ];
    });
    fill(results, table(`Keys of ${collection.name}`, ['Key', 'Value'], rows));
  };

  const leave = (): void => {
    isEditing = false;
    fill(results);
    load();
  };

  const edit = (key: string, value: unknown): void => {
    isEditing = true;
    const before = printValue(value).text;
    const form = valueEditor({
      title: `Key ${key}`,
      value,
      verb: 'Save',
      async save(next) {
        await collection.modify([key], (current) => {
          if (printValue(current).text !== before)
            throw new Error('The value was changed meanwhile. Close, and open it again.');
          return next;
        });
        // `modify` takes `undefined` for "unchanged".
        if (next === undefined) await collection.set([key], undefined);
      },
      async remove() {
        await collection.delete([key]);
      },
      leave,
    });
    fill(results, form);
  };

  const insert = (): void => {
    isEditing = true;
    const name = h('input', { type: 'text', spellcheck: 'false' });
    const form = valueEditor({
      title: `New key in ${collection.name}`,
      head: field('Key', name, true),
      value: {},
      verb: 'Set',
      async save(value) {
        if (name.value === '') throw new Error('The key is missing.');
        if (await collection.has([name.value]))
          throw new Error(`The key "${name.value}" exists: edit it instead.`);
        await collection.set([name.value], value);
      },
      leave,
    });
    fill(results, form);
  };

  filter.addEventListener('input', () => {
    pages.page = 0;
    load();
  });
  const stop = onChanges(inspected, collection.name, load);
  load();
  return {
    element: h(
      'div',
      { class: 'pane' },
      h('div', { class: 'query' }, field('Keys with', filter, true), button('Set a key…', insert)),
      problem,
      h('div', { class: 'bar' }, summary, pages.element),
      results,
    ),
    close: stop,
  };
}
