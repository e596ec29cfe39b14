import { Crc32 } from './crc32.ts';
import type { FileSection } from './file-contents.ts';
import { gzip } from './gzip.ts';
import { ORIGIN } from './origin.ts';
import { sectionText } from './section-text.ts';

const encoder = new TextEncoder();

/**
 * Writes collections to a file: gzip of one line of JSON for each record (docs/decisions/015-backup-files.md).
 * Nothing is read before it is asked for, and whoever stops early ends the sections and their records. Browsers
 * pack without leaving the turn of the event loop: where others wait for theirs, `records` has to let it go.
 *
 * @returns chunks of at least 64 kB, but for the last.
 * @throws {BackupError} `record_too_large`, `file_unsupported`.
 */
export function writeFile(
  sections: AsyncIterable<FileSection>,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  return gzip(fileBytes(sections));
}

async function* fileBytes(sections: AsyncIterable<FileSection>) {
  let count = 0;
  for await (const section of sections) {
    yield* sectionBytes(section);
    count++;
  }
  // Without it, a file cut after a section would look whole.
  yield encodeLine({ ...ORIGIN, sections: count });
}

async function* sectionBytes(section: FileSection) {
  const checksum = new Crc32();
  for await (const text of sectionText(section)) {
    const bytes = encoder.encode(text);
    checksum.update(bytes);
    yield bytes;
  }
  yield encodeLine({ end: true, documents: section.header.documents, crc32: checksum.digest() });
}

function encodeLine(line: object): Uint8Array<ArrayBuffer> {
  return encoder.encode(`${JSON.stringify(line)}\n`);
}
