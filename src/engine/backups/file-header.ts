import { versionIn } from '../../backup/file/document-version.ts';
import type { FileHeader } from '../../backup/file/file-contents.ts';
import { otherVersion } from '../collection-errors.ts';
import type { CollectionContext } from '../collections/collection-context.ts';

/**
 * The header of a collection's section, with the options of the collection and the indexes of all open handles.
 *
 * @param version Of the documents.
 */
export function headerOf(
  { settings, declared }: CollectionContext,
  version: number,
  snapshot: Pick<FileHeader, 'created_at' | 'label'>,
): Omit<FileHeader, 'documents'> {
  const { name, type, created, updated, archived, unarchived, save_early, ...others } = settings;
  const stamps = Object.entries({ created, updated, archived, unarchived }).flatMap(
    ([stamp, { at, timestamp }]) => [
      [`indicate_${stamp}_at`, at],
      [`indicate_${stamp}_timestamp`, timestamp],
    ],
  );
  const indexes = declared.of(version);
  const options = { ...others, ...Object.fromEntries(stamps), indexes, version };
  return { collection: name, type, options, ...snapshot };
}

/**
 * The version that the documents of a file have, where it suits those that are there.
 *
 * @throws {CollectionError} `schema_newer`, `schema_older`
 */
export function importedVersion(
  { settings, declared, records }: CollectionContext,
  header: FileHeader,
  merge: boolean,
): number {
  const { exists, version: own } = records.log;
  const version = versionIn(header);
  // Where nobody has it open, the next handle migrates it.
  const isFree = declared.size === 0 && !(merge && exists);
  if (version === own || isFree) return version;
  const { name } = settings;
  throw otherVersion(name, version, own, `the file for collection "${name}"`);
}
