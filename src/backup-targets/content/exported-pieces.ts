import { gunzip } from '../../backup/file/gzip.ts';
import { type CutPiece, PartCutter } from './part-cutter.ts';

/**
 * The pieces of an export. Ended early, it ends the export, which unpins its snapshot.
 *
 * @param file The stream of `exportAll()`.
 */
export async function* exportedPieces(
  file: ReadableStream<Uint8Array>,
): AsyncGenerator<CutPiece, void> {
  const cutter = new PartCutter();
  for await (const bytes of gunzip(bytesOf(file))) yield* cutter.push(bytes);
  yield* cutter.end();
}

/** Safari cannot iterate streams. */
async function* bytesOf(file: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const reader = file.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    // An export that has failed rejects this too.
    await reader.cancel().catch(() => undefined);
  }
}
