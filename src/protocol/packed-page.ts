import type { Clock } from '../async/clock.ts';
import { slicer } from '../async/next-turn.ts';
import { isPlainJson, MOST_LINES, parsedLine } from '../codec/exact-json/plain-json.ts';
import { Malformed } from '../errors/errors.ts';

/** Most bytes that a page unpacks to: anybody may have sent it. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Browsers hold all that a write unpacks to, which may be a thousand times as much. */
const UNPACKED_AT_ONCE = 32 * 1024;

/** Lines between two looks at the clock. */
const LOOK_EVERY = 64;

/** Characters, at most, of a document that cannot be nested too deeply. */
const SHORT = 800;

/**
 * Names of managed fields and wrappers, also as escapes; numbers that may be infinite. Most
 * documents have none of it, and to look for them takes half the time of {@link isPlainJson}.
 */
const SUSPECT = /"[$_]|\\u|[:,[]\s*-?\d(?:[\d.]{299}|[\d.]*[eE])/;

/** What precedes the fields of a document in most lines; others are parsed as a whole. */
const HEAD = /^\{"id":"([^"\\]+)","version":"([ !#-[\]-~]{1,200})","fields":(?=\{)/;

/** A document that is JSON without more: the text of its fields is what is stored. */
export interface PlainChange {
  readonly id: string;
  readonly version: string;
  readonly body: string;
  readonly fields: object;
}

/**
 * Reads a page as it came, compressed: a line for each change.
 *
 * @param take Gets one after the other: a plain document, or another line. Other tasks run
 *   meanwhile.
 * @throws {Malformed}; what `take` throws.
 */
export async function readPackedPage(
  packed: Uint8Array,
  clock: Clock,
  take: (change: PlainChange | string) => void,
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
      take(plainChange(line) ?? line);
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
      const { done, value } = await reader.read().catch((cause: Error) => {
        throw new Malformed(`it cannot be unpacked: ${cause.message}`);
      });
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** `undefined` for a line that is to be parsed as a whole. */
function plainChange(line: string): PlainChange | undefined {
  const [head, id, version] = HEAD.exec(line) ?? [];
  if (head === undefined || !line.endsWith('}')) return undefined;
  const body = copied(line.slice(head.length, -1));
  // One object, and so the line has nothing that is hidden behind it.
  const fields = parsedLine(body) as object;
  if (body.length > SHORT || SUSPECT.test(body)) {
    for (const name in fields) if (name[0] === '_') return undefined;
    if (!isPlainJson(fields)) return undefined;
  }
  return { id: copied(id as string), version: copied(version as string), body, fields };
}

/** A part of a longer text keeps all of it, and is read half as fast. */
function copied(part: string): string {
  return [part.slice(0, 1), part.slice(1)].join('');
}
