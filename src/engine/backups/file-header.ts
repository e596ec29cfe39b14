import type { FileHeader } from '../../backup/file/file-contents.ts';
import type { CollectionSettings } from '../protocol/settings.ts';

/** What a file says of a collection, so that whoever reads it elsewhere knows how it was set up. */
export function headerOf(
  settings: CollectionSettings,
  contents: Pick<FileHeader, 'created_at' | 'label' | 'documents'>,
): FileHeader {
  const { name, type, indexes, created, updated, archived, unarchived, ...others } = settings;
  const stamps = Object.entries({ created, updated, archived, unarchived }).flatMap(
    ([stamp, { at, timestamp }]) => [
      [`indicate_${stamp}_at`, at],
      [`indicate_${stamp}_timestamp`, timestamp],
    ],
  );
  const options = { ...others, ...Object.fromEntries(stamps), indexes };
  return { collection: name, type, options, ...contents };
}
