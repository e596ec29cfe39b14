import { callInPage, withBrowser } from './bench-page.mjs';
import { watchHeaps } from './heaps.mjs';
import { definePart, Figures } from './part.mjs';

const FILE = 'photos.mjs';
const PHOTO_BYTES = 300_000;
/** What the heap of the page may grow by, with the buffers that it holds. */
const PAGE_MB = 16;

/** @param {import('./servers.mjs').Servers} servers @param {string} remote */
async function bytesOn({ pool }, remote) {
  const { rows } = await pool.query(
    `select count(distinct sha256)::int as files, coalesce(sum(length(bytes)), 0)::bigint as bytes
     from cairn_file_parts where collection = $1`,
    [remote],
  );
  return { files: Number(rows[0].files), bytes: Number(rows[0].bytes) };
}

export const photos = definePart({
  name: 'photos',
  title: 'photos of 300 kB, taken offline: sent, and received by another device, by worker clients',
  limits: ['send', 'receive'].flatMap((contender) => [
    { figure: `${contender}: blocked ms`, atMost: 50 },
    { figure: `${contender}: long task ms`, atMost: 50 },
    { figure: `${contender}: MB peak of the page`, atMost: PAGE_MB },
  ]),
  async run({ servers, smoke, options, note }) {
    const size = options.photos ?? (smoke ? 20 : 1_000);
    const figures = new Figures();
    const remote = 'photos';
    await withBrowser(servers, async (open) => {
      for (const contender of ['send', 'receive']) {
        const page = await open();
        const heaps = await watchHeaps(page, { buffers: true });
        const load = contender === 'send' ? 'lazy' : 'eager';
        const input = { database: contender, remote, load, photos: size, bytes: PHOTO_BYTES };
        await callInPage(page, FILE, contender === 'send' ? 'prepare' : 'receive', input);
        const before = await heaps.settled();
        /** @type {any} */
        let ran;
        const peak = await heaps.peak(async () => {
          ran = await callInPage(page, FILE, 'run', {});
        });
        const { count, requests, bytes, pushes, ...times } = ran;
        if (count !== size) throw new Error(`${contender}: ${count} of ${size} documents.`);
        if (contender === 'send') {
          const there = await bytesOn(servers, remote);
          const sent = `${requests} parts with ${bytes} bytes, ${pushes} pushes`;
          const isOnce = bytes === size * PHOTO_BYTES && there.files === size;
          if (!isOnce || there.bytes !== bytes)
            throw new Error(`${sent}; the server has ${JSON.stringify(there)}.`);
          note(`sent once: ${sent}`);
        }
        figures.add(size, contender, {
          ...times,
          'MB peak of the page': Math.max(0, peak.page - before.page),
          'MB peak of the worker': Math.max(0, peak.worker - before.worker),
        });
        await callInPage(page, FILE, 'clean', {});
        await page.close();
      }
    });
    return { measured: figures.measured, ran: 1 };
  },
});
