type Bytes = Uint8Array<ArrayBuffer>;

/** A `CompressionStream` or `DecompressionStream`. */
interface ByteStream {
  readonly writable: WritableStream<BufferSource>;
  readonly readable: ReadableStream<Bytes>;
}

/** How putting the bytes of a source into a stream ended. */
type Fed =
  | { readonly by: 'end' }
  /** What was thrown, and by whom; by the stream before or after it had everything. */
  | { readonly by: 'source' | 'write' | 'close'; readonly cause: unknown };

/**
 * Takes bytes through a stream, no faster than what comes out is asked for. However it ends, the source is
 * ended, the stream is released, and nothing is left open. Errors of the source come out as they are.
 *
 * By hand and not by `pipeThrough`: it cannot tell an error of the source from one of the stream, nor bytes that are
 * wrong from bytes that are missing.
 *
 * @param explain What to throw when the stream fails. `complete`: it had everything by then.
 */
export async function* throughStream(
  source: AsyncIterable<Bytes>,
  stream: ByteStream,
  explain: (cause: unknown, complete: boolean) => unknown,
): AsyncGenerator<Bytes, void> {
  const reader = stream.readable.getReader();
  const writer = stream.writable.getWriter();
  const feeding = feed(source, writer);
  let failure: { cause: unknown } | undefined;
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } catch (cause) {
    failure = { cause };
  } finally {
    // In this order: a write that is under way waits until what it makes is read, or nobody reads any more.
    await Promise.allSettled([reader.cancel()]);
    await Promise.allSettled([writer.abort(), feeding]);
  }
  const fed = await feeding;
  if (fed.by === 'source') throw fed.cause;
  if (failure) throw explain(failure.cause, fed.by === 'close');
}

async function feed(
  source: AsyncIterable<Bytes>,
  writer: WritableStreamDefaultWriter<BufferSource>,
): Promise<Fed> {
  try {
    for await (const bytes of source) {
      try {
        await writer.write(bytes);
      } catch (cause) {
        return { by: 'write', cause };
      }
    }
  } catch (cause) {
    await Promise.allSettled([writer.abort(cause)]);
    return { by: 'source', cause };
  }
  try {
    await writer.close();
    return { by: 'end' };
  } catch (cause) {
    return { by: 'close', cause };
  }
}
