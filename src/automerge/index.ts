import type { Stamp } from '../api/document-types.ts';
import { OptionError } from '../errors/errors.ts';
import type { DocumentCollection } from '../page/collections/document-collection.ts';
import { REPLICATION } from '../page/collections/replication-access.ts';

/** A document of the collection: a value of automerge-repo. Its `_id` is the key. */
export interface AutomergeChunk {
  /** The first part of the key: the id of a document of Automerge. */
  readonly doc: string;
  readonly data: Uint8Array;
}

/** A `StorageAdapterInterface` of automerge-repo. */
export interface AutomergeStorage {
  load(key: string[]): Promise<Uint8Array | undefined>;
  save(key: string[], data: Uint8Array): Promise<void>;
  remove(key: string[]): Promise<void>;
  loadRange(keyPrefix: string[]): Promise<{ key: string[]; data: Uint8Array | undefined }[]>;
  removeRange(keyPrefix: string[]): Promise<void>;
}

/**
 * A storage adapter of automerge-repo over a collection: the option `storage` of a `Repo`. A value
 * is stored, as any document, when `collection.save()` resolves.
 *
 * @param collection A collection of documents for values alone. Give it `indexes: ['doc']`.
 * @throws {OptionError} `option_invalid`
 *
 * @example
 * ```ts
 * const chunks = new db.Collection<AutomergeChunk>({
 *   name: 'chunks',
 *   type: 'DOCUMENT_BASED',
 *   indexes: ['doc'],
 * });
 * const storage = automergeStorage(chunks);
 * await storage.save(['letter', 'snapshot', 'a1'], new Uint8Array([1, 2, 3]));
 * await storage.loadRange(['letter']);
 * ```
 */
export function automergeStorage<S extends Stamp = never>(
  collection: DocumentCollection<AutomergeChunk, S, object>,
): AutomergeStorage {
  if (!collection?.[REPLICATION] || collection.type !== 'DOCUMENT_BASED')
    throw new OptionError(
      'option_invalid',
      'automergeStorage() takes a collection of documents of Cairn.',
      { place: 'collection' },
    );
  const chunks = collection as unknown as DocumentCollection<AutomergeChunk>;
  return {
    load: async (key) => (await chunks.get(idOf(key)))?.data,
    async save(key, data) {
      const [doc = ''] = key;
      await chunks.upsert({ _id: idOf(key), doc, data });
    },
    async remove(key) {
      await chunks.delete(idOf(key));
    },
    async loadRange(keyPrefix) {
      const found = await chunks.filter(criteriaOf(keyPrefix));
      return found.map(({ _id, data }) => ({ key: keyOf(_id), data }));
    },
    async removeRange(keyPrefix) {
      await chunks.deleteMany(criteriaOf(keyPrefix));
    },
  };
}

/** The parts, each with a slash behind it: a prefix of keys is one of ids. */
function idOf(key: readonly string[]): string {
  const parts = key.map((part) => `${part.replaceAll('%', '%25').replaceAll('/', '%2F')}/`);
  return parts.join('');
}

function keyOf(id: string): string[] {
  const parts = id.split('/').slice(0, -1);
  return parts.map((part) => part.replaceAll('%2F', '/').replaceAll('%25', '%'));
}

function criteriaOf(keyPrefix: readonly string[]) {
  const [doc] = keyPrefix;
  if (doc === undefined) return {};
  const $gte = idOf(keyPrefix);
  // `0` is the sign after the slash.
  return { doc, _id: { $gte, $lt: `${$gte.slice(0, -1)}0` } };
}
