import { StorageError } from '../../errors/storage-error.ts';
import { toBase64 } from './base64.ts';
import type { Binary } from './exact-encoding.ts';
import { binaryTooLarge } from './file-errors.ts';
import { MAX_BINARY, PIECE } from './limits.ts';

/**
 * The lines before a record that hold the bytes it refers to, in pieces: a Blob may be larger than memory.
 *
 * @param place What errors call the record.
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
    // An empty one has a line too.
    do {
      const piece =
        binary instanceof Uint8Array
          ? binary.subarray(at, at + PIECE)
          : await readPiece(binary, at, place);
      yield `{"${kind}":${index},"base64":"${toBase64(piece)}"}\n`;
      at += PIECE;
    } while (at < sizeOf(binary));
  }
}

function sizeOf(binary: Binary): number {
  return binary instanceof Uint8Array ? binary.length : binary.size;
}

async function readPiece(blob: Blob, at: number, place: string): Promise<Uint8Array> {
  try {
    return new Uint8Array(await blob.slice(at, at + PIECE).arrayBuffer());
  } catch (cause) {
    const message = `A Blob of ${place} cannot be read (${cause}). Put another in its place, and export again.`;
    throw new StorageError('storage_failed', message, { place, cause });
  }
}
