import type { FilePart } from '../file-contents.ts';
import { gunzip } from '../gzip.ts';
import { EndlessLine, lineBlocks, UnfinishedLine } from './line-blocks.ts';
import { LineReader } from './line-reader.ts';

/**
 * Reads a file that `writeFile` of this or an earlier version wrote. Every record is checked and can be stored;
 * the caller has to refuse two records of one key.
 *
 * The file is valid only once the generator is done: until then the caller must not apply its parts.
 *
 * @param bytes In chunks of any size; ended when the generator ends.
 * @throws {BackupError} `file_not_gzip`, `file_not_cairn`, `file_newer`, `file_truncated`, `file_damaged`,
 * `file_unsupported`, `record_too_large`. Errors of `bytes` come out as they are.
 */
export async function* readFile(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<FilePart, void> {
  const reader = new LineReader();
  try {
    for await (const block of lineBlocks(gunzip(bytes))) yield* reader.read(block);
  } catch (error) {
    if (error instanceof UnfinishedLine) throw reader.cutOff();
    if (error instanceof EndlessLine) throw reader.nextLineTooLong();
    throw error;
  }
  reader.end();
}
