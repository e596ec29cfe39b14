import type { FileHeader } from '../../backup/file/file-contents.ts';
import type { CollectionContext } from '../collections/collection-context.ts';

/** The header of a collection's section, with the options of the collection and the indexes of all open handles. */
export function headerOf(
  { settings, declared }: CollectionContext,
  snapshot: Pick<FileHeader, 'created_at' | 'label'>,
): Omit<FileHeader, 'documents'> {
  const { name, type, created, updated, archived, unarchived, save_early, ...others } = settings;
  const stamps = Object.entries({ created, updated, archived, unarchived }).flatMap(
    ([stamp, { at, timestamp }]) => [
      [`indicate_${stamp}_at`, at],
      [`indicate_${stamp}_timestamp`, timestamp],
    ],
  );
  const options = { ...others, ...Object.fromEntries(stamps), indexes: declared.definitions };
  return { collection: name, type, options, ...snapshot };
}
