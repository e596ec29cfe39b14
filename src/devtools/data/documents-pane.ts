import type { Explanation } from '../../api/document-types.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import type { DocumentCollection } from '../../page/collections/document-collection.ts';
import { adviseIndexes } from '../advise-indexes.ts';
import type { InspectedDatabase } from '../inspect/inspected-database.ts';
import { arrayPathsIn, pathsIn } from '../inspect/query-log.ts';
import { parseObject } from '../values/parse-value.ts';
import { printShort, printValue } from '../values/print-value.ts';
import { button, facts, field, fill, h, table, type View } from '../views/dom.ts';
import { counted, messageOf, millisecondsText, pageText, planText } from '../views/format-text.ts';
import { onChanges, PAGE_ROWS, PageButtons } from './page-buttons.ts';
import { valueEditor } from './value-editor.ts';

interface Query {
  readonly params: Record<string, unknown>;
  readonly sort: Record<string, 1 | -1> | undefined;
  readonly archived: boolean | 'only';
}

const ARCHIVED: Readonly<Record<string, Query['archived']>> = {
  active: false,
  'active and archived': true,
  archived: 'only',
};

/** The documents of a collection that match criteria, page by page, up to date. */
export function documentsPane(inspected: InspectedDatabase, collection: DocumentCollection): View {
  const input = (placeholder: string) =>
    h('input', { type: 'text', placeholder, spellcheck: 'false' });
  const criteria = input("{ region: 'north', age: { $gte: 18 } }");
  const sort = input('{ age: -1 }');
  const archived = h('select', {}, ...Object.keys(ARCHIVED).map((name) => h('option', {}, name)));
  const problem = h('p', { class: 'problem', role: 'alert' });
  const summary = h('p', { class: 'summary', role: 'status' });
  const advice = h('p', { class: 'advice' });
  const results = h('div', { class: 'results' });
  const pages = new PageButtons(() => load());
  let query: Query = { params: {}, sort: undefined, archived: false };
  let loads = 0;
  let isEditing = false;
  let paths: readonly string[] = [];

  const run = (event?: Event): void => {
    event?.preventDefault();
    try {
      const order = parseObject(sort.value) as Record<string, 1 | -1>;
      query = {
        params: parseObject(criteria.value),
        sort: Object.keys(order).length > 0 ? order : undefined,
        archived: ARCHIVED[archived.value] ?? false,
      };
      fill(problem);
    } catch (error) {
      fill(problem, messageOf(error));
      return;
    }
    pages.page = 0;
    load(true);
  };

  const load = (explains = false): void => {
    const own = ++loads;
    if (explains) fill(advice);
    show(() => own === loads, explains).catch((error: unknown) => {
      if (own === loads) fill(problem, messageOf(error));
    });
  };

  const show = async (isCurrent: () => boolean, explains: boolean): Promise<void> => {
    const { params, sort, archived } = query;
    const began = performance.now();
    const options = { sort, archived, skip: pages.first, limit: PAGE_ROWS };
    const [documents, total] = await Promise.all([
      collection.filter(params, inspected.hide(options)),
      collection.count(params, inspected.hide({ archived })),
    ]);
    const ms = performance.now() - began;
    if (!isCurrent()) return;
    if (!pages.limitTo(total)) return load(explains);
    if (!isEditing) drawRows(documents);
    fill(problem);
    fill(summary, `${pageText(pages.first, documents.length, total)} in ${millisecondsText(ms)}`);
    if (!explains) return;
    const explained = await collection.explain(params, { sort, archived, limit: PAGE_ROWS });
    if (isCurrent()) drawPlan(explained, documents);
  };

  const drawPlan = (explained: Explanation, sample: readonly object[]): void => {
    const { plan, keys_examined, documents_examined, returned } = explained;
    const [first] = adviseIndexes([
      {
        ...{ collection: collection.name, params: query.params, sort: query.sort },
        ...{ plan, documents_examined, returned },
        indexes: inspected.indexesOf(collection.name),
        arrays: arrayPathsIn(sample),
      },
    ]);
    const costs = `${counted(keys_examined, 'key')} and ${counted(documents_examined, 'document')} examined for ${returned}`;
    fill(
      advice,
      h('span', { class: 'plan' }, `Plan: ${planText(plan)}. ${costs}.`),
      h('span', { class: 'plan' }, inspected.indexText(collection.name)),
      first && h('strong', {}, first.message),
    );
  };

  const drawRows = (documents: readonly object[]): void => {
    const fresh = pathsIn(documents, (_, isInside) => !isInside);
    paths = [...new Set([...paths, ...fresh])];
    const columns = columnsOf(documents);
    const rows = documents.map((document) => {
      const values = document as Record<string, unknown>;
      const id = String(values._id);
      const open = button(printShort(id, 24), () => edit(id), {
        class: 'id',
        title: id,
      });
      return [open, ...columns.map((name) => (name in values ? printShort(values[name], 60) : ''))];
    });
    const box = results.querySelector('.scroll');
    const { scrollTop = 0, scrollLeft = 0 } = box ?? {};
    const focused = (results.getRootNode() as ShadowRoot).activeElement?.getAttribute('title');
    if (documents.length === 0) {
      const text = 'No document matches. Insert one, or change the criteria and what is shown.';
      fill(results, h('div', { class: 'empty' }, h('p', {}, text)));
      return;
    }
    const shown = table(`Documents of ${collection.name}`, ['_id', ...columns], rows);
    fill(results, shown);
    shown.scrollTo?.(scrollLeft, scrollTop);
    if (focused) results.querySelector<HTMLElement>(`[title="${CSS.escape(focused)}"]`)?.focus();
  };

  const leave = (): void => {
    isEditing = false;
    fill(results);
    load();
  };
  const showForm = (form: HTMLElement): void => {
    isEditing = true;
    fill(results, form);
  };
  const edit = (id: string): void => {
    editDocument(collection, id, leave).then(showForm, (error: unknown) =>
      fill(problem, messageOf(error)),
    );
  };

  const stop = onChanges(inspected, collection.name, () => load());
  const form = h(
    'form',
    { class: 'query', onsubmit: run, 'aria-label': `Query ${collection.name}` },
    completeWords(criteria, 'criteria-words', () => [...paths, ...OPERATORS]),
    completeWords(sort, 'sort-words', () => paths),
    field('Criteria', criteria, true),
    field('Sort', sort),
    field('Show', archived),
    h('button', { type: 'submit', class: 'primary' }, 'Run'),
    button('Insert…', () => showForm(insertDocument(collection, leave))),
  );
  archived.addEventListener('change', () => run());
  load();
  return {
    element: h(
      'div',
      { class: 'pane' },
      form,
      problem,
      h('div', { class: 'bar' }, summary, pages.element),
      advice,
      results,
    ),
    close: stop,
  };
}

const MANAGED_FIRST = ['_archived'];
const MOST = 12;

/** The most frequent fields in the order of the documents; `_archived` where one is archived. */
function columnsOf(documents: readonly object[]): string[] {
  const frequencies = new Map<string, number>();
  for (const document of documents)
    for (const name of Object.keys(document))
      if (!name.startsWith('_')) frequencies.set(name, (frequencies.get(name) ?? 0) + 1);
  const names = [...frequencies.keys()];
  const frequent = [...frequencies]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MOST)
    .map(([name]) => name);
  const managed = MANAGED_FIRST.filter((name) =>
    documents.some((document) => (document as Record<string, unknown>)[name] === true),
  );
  return [...managed, ...names.filter((name) => frequent.includes(name))];
}

class EditError extends Error {}

const MANAGED =
  /^_(?:id|updated|archived|(?:created|updated|archived|unarchived)_(?:at|timestamp))$/;

/** A form that edits a document. Rejects if it is gone. */
async function editDocument(
  collection: DocumentCollection,
  id: string,
  leave: () => void,
): Promise<HTMLElement> {
  const document = await collection.get(id);
  if (!document) throw new EditError(`The document ${id} does not exist any more.`);
  const [managed, fields] = parted(document);
  const before = printValue(fields);
  const { _archived: isArchived } = document;
  return valueEditor({
    title: `Document ${id}`,
    head: facts(Object.entries(managed).map(([name, value]) => [name, printValue(value).text])),
    value: fields,
    verb: 'Save',
    async save(value) {
      const fields = documentOf(value);
      const saved = await collection.modify(id, (current) => {
        // Blobs have no text: they compare as their sizes.
        if (printValue(parted(current)[1]).text !== before.text)
          throw new EditError('The document was changed meanwhile. Close, and open it again.');
        return fields;
      });
      if (!saved) throw new EditError('The document was deleted meanwhile.');
    },
    async remove() {
      await collection.delete(id);
    },
    more: [
      {
        label: isArchived ? 'Unarchive' : 'Archive',
        async act() {
          await (isArchived ? collection.unarchive(id) : collection.archive(id));
        },
      },
    ],
    leave,
  });
}

function insertDocument(collection: DocumentCollection, leave: () => void): HTMLElement {
  return valueEditor({
    title: `New document in ${collection.name}`,
    value: {},
    verb: 'Insert',
    async save(value) {
      await collection.insert(documentOf(value));
    },
    leave,
  });
}

function documentOf(value: unknown): Record<string, unknown> {
  if (isPlainObject(value)) return value;
  throw new EditError('A document is an object: { name: "Ada" }.');
}

function parted(document: object): [managed: object, fields: Record<string, unknown>] {
  const entries = Object.entries(document);
  const isManaged = ([name]: [string, unknown]) => MANAGED.test(name);
  return [
    Object.fromEntries(entries.filter(isManaged)),
    Object.fromEntries(entries.filter((entry) => !isManaged(entry))),
  ];
}

/** Operators of criteria, in the order of the reference. */
export const OPERATORS: readonly string[] =
  `$eq $ne $gt $gte $lt $lte $in $nin $exists $type $regex $options $size $all $elemMatch $mod
  $bitsAllSet $bitsAnySet $bitsAllClear $bitsAnyClear $not $and $or $nor $expr $some $none $every
  $comment`.split(/\s+/);

/** The word at the end of a text, where a key may stand. */
const LAST_WORD = /(?<=^|[{[(,:\s]|["'](?=[\w$]))[$\w.]+$/;
const MOST_WORDS = 50;

/**
 * Offers paths and operators for the last word of an input, from a list of the browser: each entry
 * is the whole text, as such a list replaces all of it.
 *
 * @param words What may stand there now.
 */
function completeWords(
  input: HTMLInputElement,
  id: string,
  words: () => readonly string[],
): HTMLElement {
  const list = h('datalist', { id });
  input.setAttribute('list', id);
  input.addEventListener('input', () => {
    const { value } = input;
    const [word] = value.match(LAST_WORD) ?? [];
    const fitting = word ? words().filter((each) => each !== word && each.startsWith(word)) : [];
    const before = value.slice(0, value.length - (word?.length ?? 0));
    list.replaceChildren(
      ...fitting
        .slice(0, MOST_WORDS)
        .map((each) => h('option', { value: before + asKey(each, before) }, each)),
    );
  });
  return list;
}

/** A path is quoted, unless a quote has been typed. */
const asKey = (word: string, before: string): string =>
  /^[$\w]+$/.test(word) || /["']$/.test(before) ? word : `'${word}'`;
