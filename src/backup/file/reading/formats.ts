import { asInteger, asString, type JsonObject } from '../../../codec/exact-json/json-checks.ts';
import { newerFormat, notCairn } from '../file-errors.ts';
import { FORMAT, FORMAT_NUMBER } from '../format-fields.ts';
import type { SectionFormat } from './section-reader.ts';
import { SectionReader1 } from './section-reader-1.ts';

/** Readers by format number. No format is ever removed. */
const formats: Readonly<Record<number, SectionFormat>> = { 1: SectionReader1 };

/**
 * The reader for a header or for a file's last line, by its format number.
 *
 * @param place The line, for errors.
 * @throws {BackupError} `file_not_cairn`, `file_newer`.
 */
export function formatOf(line: JsonObject, place: string): SectionFormat {
  if (line.format !== FORMAT) throw notCairn();
  const number = asInteger(line.format_number, '"format_number"', 1);
  const format = formats[number];
  if (!format) throw newerFormat(number, FORMAT_NUMBER, line.version, place);
  asString(line.version, '"version"');
  return format;
}
