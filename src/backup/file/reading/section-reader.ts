import type { JsonObject } from '../../../codec/exact-json/json-checks.ts';
import type { Crc32 } from '../crc32.ts';
import type { FileHeader, FileRecord } from '../file-contents.ts';

/** Reads the lines of one section in one format. Errors other than Cairn's count as damage of the line. */
export interface SectionReader {
  readonly header: FileHeader;
  /** Covers all lines before the section's last one. */
  readonly checksum: Crc32;
  /**
   * @param number Of the line in the file, for errors.
   * @returns the record, `'end'` for the section's last line, or nothing for binary data of a later record.
   */
  read(line: JsonObject, number: number): FileRecord | 'end' | undefined;
  /** Compares counts and checksum, after the last line. */
  verify(): void;
}

/** Constructed with a header whose format and version were checked. */
export type SectionFormat = new (header: JsonObject) => SectionReader;
