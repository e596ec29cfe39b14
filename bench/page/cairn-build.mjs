/**
 * A build of Cairn, as a page loads it.
 *
 * @typedef {object} CairnBuild
 * @property {string} url of its entry
 * @property {readonly string[]} parts URLs of what it loads on first use
 */

/**
 * Loads it with its lazy chunks, as all contenders load their code before anything is measured. A
 * chunk that waits with its definitions for those that it imports makes them now, too.
 *
 * @param {CairnBuild} build
 */
export async function loadCairn({ url, parts }) {
  const [library, ...chunks] = await Promise.all(
    [url, ...parts].map((each) => import(/* @vite-ignore */ each)),
  );
  await Promise.all(chunks.map((chunk) => chunk.load?.()));
  return library;
}

/**
 * The chunks that a page has loaded so far, without its worker.
 *
 * @param {Pick<CairnBuild, 'url'>} build
 * @param {Pick<Window, 'location' | 'performance'>} [page]
 */
export function loadedParts({ url }, { location, performance } = window) {
  const entry = new URL(url, location.href).href;
  const folder = entry.slice(0, entry.lastIndexOf('/') + 1);
  const names = performance.getEntriesByType('resource').map(({ name }) => name);
  return names.filter((name) => name.startsWith(folder) && !name.endsWith('/worker.js'));
}
