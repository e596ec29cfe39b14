import type { Clock } from '../async/clock.ts';
import { slicer } from '../async/next-turn.ts';
import { MOST_LINES } from '../codec/exact-json/plain-json.ts';
import { Malformed } from '../errors/errors.ts';

/** Most bytes that a page unpacks to: anybody may have sent it. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Browsers hold all that a write unpacks to, which may be a thousand times as much. */
const UNPACKED_AT_ONCE = 32 * 1024;

/** Lines between two looks at the clock. */
const LOOK_EVERY = 64;

/**
 * Reads a page as it came, compressed: a line for each change.
 *
 * @param take Gets one after the other. Other tasks run meanwhile.
 * @throws {Malformed}; what `take` throws; a `TypeError` for what cannot be unpacked.
 */
export async function readPackedPage(
  packed: Uint8Array,
  clock: Clock,
  take: (line: string) => void,
): Promise<void> {
  const pause = slicer(clock);
  const decoder = new TextDecoder();
  let [begun, bytes, count] = ['', 0, 0];
  for await (const part of unpacked(packed)) {
    bytes += part.length;
    if (bytes > MOST_BYTES) throw new Malformed('it unpacks to too much');
    const text = decoder.decode(part, { stream: true });
    let at = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
      if (++count > MOST_LINES) throw new Malformed('it has too many lines');
      const line = begun + text.slice(at, end);
      begun = '';
      at = end + 1;
      take(line);
      if (count % LOOK_EVERY === 0) await pause();
    }
    begun += text.slice(at);
  }
  if (begun !== '' || decoder.decode() !== '') throw new Malformed('its last line has no end');
}

async function* unpacked(packed: Uint8Array): AsyncGenerator<Uint8Array> {
  let at = 0;
  const slices = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= packed.length) return controller.close();
      controller.enqueue(packed.subarray(at, at + UNPACKED_AT_ONCE));
      at += UNPACKED_AT_ONCE;
    },
  });
  const unpacking = new DecompressionStream('gzip') as unknown as TransformStream;
  const reader = slices.pipeThrough<Uint8Array>(unpacking).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
