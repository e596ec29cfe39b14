import type { Crc32 } from './crc32.ts';
import type { FileHeader, FileRecord } from './file-contents.ts';
import type { JsonObject } from './flaw.ts';

/**
 * Reads the lines of one section, in one format. Whatever it throws that is no error of Cairn counts as damage of
 * the line it was given.
 */
export interface SectionReader {
  readonly header: FileHeader;
  /** Is given the bytes of all lines before the last one. */
  readonly checksum: Crc32;
  /**
   * @param number Of the line in the file, for errors.
   * @returns the record on it, `'end'` for the section's last line, or nothing for a part of what is to come.
   */
  read(line: JsonObject, number: number): FileRecord | 'end' | undefined;
  /** Called after the end, when the checksum has seen all. */
  verify(): void;
}

/** Begins a section with its header, whose format and version were looked at. */
export type SectionFormat = new (header: JsonObject) => SectionReader;
