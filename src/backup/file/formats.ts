import { newer, notCairn } from './file-errors.ts';
import { asInteger, asString, type JsonObject } from './flaw.ts';
import { FORMAT, FORMAT_NUMBER } from './origin.ts';
import { Section1 } from './section-1.ts';
import type { SectionFormat } from './section-format.ts';

/** All that can be read, by number. A format stays here for ever. */
const formats: Readonly<Record<number, SectionFormat>> = { 1: Section1 };

/**
 * The format of a section, as its header says, or of the file, as its last line says.
 *
 * @param place What errors call the line.
 * @throws {BackupError} `file_not_cairn`, `file_newer`.
 */
export function formatOf(line: JsonObject, place: string): SectionFormat {
  if (line.format !== FORMAT) throw notCairn();
  const number = asInteger(line.format_number, '"format_number"', 1);
  const format = formats[number];
  if (!format) throw newer(number, FORMAT_NUMBER, line.version, place);
  asString(line.version, '"version"');
  return format;
}
