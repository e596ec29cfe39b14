type Bytes = Uint8Array<ArrayBuffer>;

/** A `CompressionStream` or `DecompressionStream`. */
interface ByteStream {
  readonly writable: WritableStream<BufferSource>;
  readonly readable: ReadableStream<Bytes>;
}

/** How feeding a source into a stream ended. */
type Fed =
  | { readonly by: 'end' }
  /** The error, and where it came from; `close`: the stream failed after its last byte. */
  | { readonly by: 'source' | 'write' | 'close'; readonly cause: unknown };

/**
 * Pipes bytes through a stream with backpressure. In every case the source is ended and the stream released.
 * Errors of the source come out as they are.
 *
 * `pipeThrough` cannot tell an error of the source from one of the stream, nor damaged bytes from missing ones.
 *
 * @param explain The error to throw when the stream fails; `complete`: after its last byte.
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
    // In this order: a pending write waits until its output is read or the readable is cancelled.
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
