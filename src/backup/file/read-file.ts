import type { FilePart } from './file-contents.ts';
import { FileReading } from './file-reading.ts';
import { gunzip } from './gzip.ts';
import { EndlessLine, lineBlocks, UnfinishedLine } from './line-blocks.ts';

/**
 * Reads what {@link writeFile} of this version or an earlier one wrote. Everything is checked: a value that comes out
 * is one that can be stored. That no two records of a collection have one key is left to who stores them.
 *
 * A file is whole only once the generator has come to its end; what came out before then must not count yet.
 *
 * @param bytes In chunks of any size. Whoever stops early ends it.
 * @throws {BackupError} with any of its codes. Errors of `bytes` come out as they are.
 */
export async function* readFile(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<FilePart, void> {
  const reading = new FileReading();
  try {
    for await (const block of lineBlocks(gunzip(bytes))) yield* reading.read(block);
  } catch (error) {
    if (error instanceof UnfinishedLine) throw reading.cut();
    if (error instanceof EndlessLine) throw reading.endless();
    throw error;
  }
  reading.end();
}
