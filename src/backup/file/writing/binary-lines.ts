import { toBase64 } from '../../../codec/exact-json/base64.ts';
import type { Binary } from '../../../codec/exact-json/exact-encoding.ts';
import { StorageError } from '../../../errors/storage-error.ts';
import { binaryTooLarge } from '../file-errors.ts';
import { BINARY_LINE, MAX_BINARY } from '../limits.ts';

/**
 * The lines with the binary data of a record, written before it. Read in pieces: a Blob may be larger than memory.
 *
 * @param place The record, for errors.
 */
export async function* binaryLines(
  binaries: readonly Binary[],
  place: string,
): AsyncGenerator<string> {
  let room = MAX_BINARY;
  for (const binary of binaries) room -= sizeOf(binary);
  if (room < 0) throw binaryTooLarge(place);
  for (const [index, binary] of binaries.entries()) {
    const kind = binary instanceof Uint8Array ? 'buffer' : 'blob';
    let at = 0;
    // Empty binaries have a line too.
    do {
      const piece =
        binary instanceof Uint8Array
          ? binary.subarray(at, at + BINARY_LINE)
          : await readPiece(binary, at, place);
      yield `{"${kind}":${index},"base64":"${toBase64(piece)}"}\n`;
      at += BINARY_LINE;
    } while (at < sizeOf(binary));
  }
}

function sizeOf(binary: Binary): number {
  return binary instanceof Uint8Array ? binary.length : binary.size;
}

async function readPiece(blob: Blob, at: number, place: string): Promise<Uint8Array> {
  try {
    return new Uint8Array(await blob.slice(at, at + BINARY_LINE).arrayBuffer());
  } catch (cause) {
    const message = `A Blob of ${place} cannot be read (${cause}). Replace the Blob, and export again.`;
    throw new StorageError('storage_failed', message, { place, cause });
  }
}
