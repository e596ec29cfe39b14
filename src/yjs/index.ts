import type { Awareness } from 'y-protocols/awareness';
import * as Y from 'yjs';
import type { Stamp } from '../api/document-types.ts';
import { checkOptions, name } from '../api/options/option-checks.ts';
import { OptionError } from '../errors/errors.ts';
import type { DocumentCollection } from '../page/collections/document-collection.ts';
import { REPLICATION } from '../page/collections/replication-access.ts';
import {
  type DocUpdate,
  type KeepDocOptions,
  KeptDoc,
  keptDocs,
  type UpdateRows,
} from './kept-doc.ts';

export { type DocUpdate, type KeepDocOptions, KeptDoc } from './kept-doc.ts';

/**
 * Keeps a Y.Doc in a collection: its updates are documents of it. Edits are appended, offline and
 * in each tab; all tabs show them, and devices that replicate the collection. Small rows are merged
 * into larger ones. To load appends nothing.
 *
 * What the Y.Doc has already is merged with what is stored.
 *
 * @param collection A collection of documents for updates alone, of any number of Y.Docs. Give it
 *   `indexes: ['doc']`.
 * @throws {OptionError} `option_conflict` for a Y.Doc that is kept already, under this name or
 *   another; `peer_unsupported` for one of another copy of Yjs, or of one before 13.5;
 *   `option_missing`, `option_unknown`, `option_invalid`.
 *
 * @example
 * ```ts
 * const texts = new db.Collection<DocUpdate>({
 *   name: 'texts',
 *   type: 'DOCUMENT_BASED',
 *   indexes: ['doc'],
 * });
 * const doc = new Y.Doc();
 * const text = keepDoc(texts, doc, { name: 'letter' });
 * await text.ready;
 * doc.getText().insert(0, 'Dear Ada');
 * ```
 */
export function keepDoc<S extends Stamp = never>(
  collection: DocumentCollection<DocUpdate, S, object>,
  doc: Y.Doc,
  options: KeepDocOptions,
): KeptDoc {
  if (!collection?.[REPLICATION] || collection.type !== 'DOCUMENT_BASED')
    throw invalid('keepDoc() takes a collection of documents of Cairn.', 'collection');
  if (!(doc instanceof Y.Doc) || typeof Y.mergeUpdates !== 'function') {
    if (typeof (doc as Partial<Y.Doc>)?.transact !== 'function')
      throw invalid('keepDoc() takes a Y.Doc.', 'doc');
    throw new OptionError(
      'peer_unsupported',
      'This Y.Doc is of another copy of Yjs, or of one before 13.5: have one yjs in the app (npm dedupe), 13.5 or later.',
      { place: 'yjs' },
    );
  }
  const settings = checkOptions(
    options,
    {
      name,
      awareness: {
        allowed: 'an Awareness of this Y.Doc',
        test: (value) => (value as Partial<Awareness> | undefined)?.doc === doc,
      },
    },
    'keepDoc(collection, doc, options)',
  ) as unknown as KeepDocOptions;
  if (doc.isDestroyed) throw invalid('The Y.Doc was destroyed: make a new one.', 'doc');
  const other = keptDocs.get(doc);
  if (other)
    throw new OptionError(
      'option_conflict',
      `This Y.Doc is kept as "${other.name}": make another for "${settings.name}", or close() that first.`,
      { place: 'doc' },
    );
  return new KeptDoc(collection as unknown as UpdateRows, doc, settings);
}

function invalid(message: string, place: string): OptionError {
  return new OptionError('option_invalid', message, { place });
}
