import type { FileHeader } from './file-contents.ts';

/** The version of the documents in a section of a file, as the option `version`. */
export function versionIn({ options }: FileHeader): number {
  const { version } = options;
  return Number.isSafeInteger(version) ? Math.max(version as number, 1) : 1;
}

/** The header of the same documents, migrated. */
export function withVersion(header: FileHeader, version: number): FileHeader {
  return { ...header, options: { ...header.options, version } };
}
