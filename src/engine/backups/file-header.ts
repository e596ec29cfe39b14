import type { FileHeader } from '../../backup/file/file-contents.ts';
import type { CollectionSettings } from '../protocol/settings.ts';

/** The header of a collection's section: with the options, an import elsewhere can set the collection up alike. */
export function headerOf(
  settings: CollectionSettings,
  snapshot: Pick<FileHeader, 'created_at' | 'label'>,
): Omit<FileHeader, 'documents'> {
  const { name, type, indexes, created, updated, archived, unarchived, ...others } = settings;
  const stamps = Object.entries({ created, updated, archived, unarchived }).flatMap(
    ([stamp, { at, timestamp }]) => [
      [`indicate_${stamp}_at`, at],
      [`indicate_${stamp}_timestamp`, timestamp],
    ],
  );
  const options = { ...others, ...Object.fromEntries(stamps), indexes };
  return { collection: name, type, options, ...snapshot };
}
