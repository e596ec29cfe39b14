import type { FilePart } from '../file-contents.ts';
import { FORMAT_FIELDS } from '../format-fields.ts';
import { gzip } from '../gzip.ts';
import { encodeLine, SectionWriter } from './section-writer.ts';

/**
 * Writes collections to a file: gzip of one line of JSON for each record (docs/decisions/015-backup-files.md).
 * The generator is lazy, and ending it early ends `parts`. Browsers compress within one turn of the event loop:
 * `parts` must let other work in.
 *
 * @returns chunks of at least 64 kB, except for the last.
 * @throws {BackupError} `record_too_large`, `file_unsupported`.
 * @throws {StorageError} `data_damaged` when a collection has fewer or more records than its header says.
 */
export function writeFile(
  parts: AsyncIterable<FilePart>,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  return gzip(fileBytes(parts));
}

async function* fileBytes(parts: AsyncIterable<FilePart>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let section: SectionWriter | undefined;
  let sections = 0;
  for await (const part of parts) {
    if (part.kind === 'header') {
      section = new SectionWriter(part.header);
      sections++;
    } else if (!section) throw new TypeError(`A file cannot begin with ${part.kind}.`);
    else if (part.kind === 'records') yield* section.write(part.records);
    else yield* section.end();
  }
  // The last line detects a file truncated between two sections.
  yield encodeLine({ ...FORMAT_FIELDS, sections });
}
