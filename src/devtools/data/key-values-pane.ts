import type { KeyValueCollection } from '../../page/collections/key-value-collection.ts';
import type { InspectedDatabase } from '../inspect/inspected-database.ts';
import { printShort, printValue } from '../values/print-value.ts';
import { button, field, fill, h, table, type View } from '../views/dom.ts';
import { messageOf, pageText } from '../views/format-text.ts';
import { onChanges, PAGE_ROWS, PageButtons } from './page-buttons.ts';
import { valueEditor } from './value-editor.ts';

/** The records of a key-value collection, page by page, up to date. */
export function keyValuesPane(inspected: InspectedDatabase, collection: KeyValueCollection): View {
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
