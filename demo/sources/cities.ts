import { count, url } from 'virtual:cities';
import type { NewDocument } from 'cairndb';
import { nextTask } from './next-task.ts';
import type { Source } from './source.ts';

/** Every place with a name and about a thousand people, from geonames.org. */
export const citiesSource: Source = {
  collection: 'cities',
  title: 'Cities of the world',
  total: count,
  batches: loadCities,
};

const BYTES_A_TASK = 32_768;

/** DecompressionStream works on the page's thread: whole network chunks would block it. */
function inSmallChunks(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  return new TransformStream({
    async transform(chunk, controller) {
      for (let from = 0; from < chunk.length; from += BYTES_A_TASK) {
        controller.enqueue(chunk.subarray(from, from + BYTES_A_TASK));
        await nextTask();
      }
    },
  });
}

/** Loads the cities and yields them batch by batch while they still arrive. */
async function* loadCities(): AsyncGenerator<readonly NewDocument[]> {
  const { ok, status, body } = await fetch(url);
  if (!ok || !body)
    throw new Error(`The cities could not be loaded: the server answered ${status}.`);
  const reader = body
    .pipeThrough(inSmallChunks())
    .pipeThrough(new DecompressionStream('gzip'))
    .pipeThrough(new TextDecoderStream())
    .getReader(); // WebKit cannot iterate over a stream
  let line = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const [end = '', ...lines] = value.split('\n');
      line += end; // a line spans several chunks; earlier ones are not searched again
      for (const next of lines) {
        yield JSON.parse(line);
        line = next;
      }
    }
    yield JSON.parse(line);
  } finally {
    // Stops the download when the consumer stops early.
    await reader.cancel();
  }
}
