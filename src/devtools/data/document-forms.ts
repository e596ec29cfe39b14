import { isPlainObject } from '../../codec/kinds.ts';
import type { DocumentCollection } from '../../collection/document-collection.ts';
import { printValue } from '../values/print-value.ts';
import { facts } from '../views/dom.ts';
import { valueEditor } from './value-editor.ts';

/** A refusal of an edit, shown to the user. */
class EditError extends Error {}

/** A form that edits a document. Rejects if it is gone. */
export async function editDocument(
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

/** A form for a new document. */
export function insertDocument(collection: DocumentCollection, leave: () => void): HTMLElement {
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

/** The fields that Cairn manages, and the app's. */
function parted(document: object): [managed: object, fields: Record<string, unknown>] {
  const entries = Object.entries(document);
  const isManaged = ([name]: [string, unknown]) => MANAGED.test(name);
  return [
    Object.fromEntries(entries.filter(isManaged)),
    Object.fromEntries(entries.filter((entry) => !isManaged(entry))),
  ];
}

const MANAGED =
  /^_(?:id|updated|archived|(?:created|updated|archived|unarchived)_(?:at|timestamp))$/;
