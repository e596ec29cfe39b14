import { joinBytes } from '../join-bytes.ts';
import { CHUNK, MAX_LINE } from '../limits.ts';

type Bytes = Uint8Array<ArrayBuffer>;

const NEWLINE = 10;

/** The line after the last block is over the limit. */
export class EndlessLine extends Error {}

/** Bytes follow the last newline. */
export class UnfinishedLine extends Error {}

/**
 * Groups bytes into blocks of about {@link CHUNK} that end with a newline.
 *
 * @throws {EndlessLine}
 * @throws {UnfinishedLine}
 */
export async function* lineBlocks(chunks: AsyncIterable<Bytes>): AsyncGenerator<Bytes, void> {
  let parts: Bytes[] = [];
  let size = 0;
  /** Bytes up to the last newline. */
  let whole = 0;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) whole = size + end;
    parts.push(chunk);
    size += chunk.length;
    if (size < CHUNK) continue;
    if (whole > 0) {
      const all = joinBytes(parts, size);
      yield all.subarray(0, whole);
      parts = [all.subarray(whole)];
      size -= whole;
      whole = 0;
    }
    if (size > MAX_LINE) throw new EndlessLine();
  }
  if (whole > 0) yield joinBytes(parts, size).subarray(0, whole);
  if (whole < size) throw new UnfinishedLine();
}
