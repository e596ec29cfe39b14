import { url } from 'virtual:cities';
import type { NewDocument } from 'cairndb';
import type { City } from './city.ts';

/** Loads the cities and yields them batch by batch while they still arrive. */
export async function* loadCities(): AsyncGenerator<NewDocument<City>[]> {
  const { ok, status, body } = await fetch(url);
  if (!ok || !body)
    throw new Error(`The cities could not be loaded: the server answered ${status}.`);
  const reader = body
    .pipeThrough(new DecompressionStream('gzip'))
    .pipeThrough(new TextDecoderStream())
    .getReader(); // WebKit cannot iterate over a stream
  let line = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const [end = '', ...lines] = value.split('\n');
    line += end; // a line takes several chunks: what came before is not looked through again
    for (const next of lines) {
      yield JSON.parse(line);
      line = next;
    }
  }
  yield JSON.parse(line);
}
