/**
 * A build of Cairn, as a page loads it.
 *
 * @typedef {object} CairnBuild
 * @property {string} url of its entry
 * @property {readonly string[]} parts URLs of what it loads on first use
 */

/**
 * Loads it with its lazy chunks, as all contenders load their code before anything is measured.
 *
 * @param {CairnBuild} build
 */
export async function loadCairn({ url, parts }) {
  const [library] = await Promise.all(
    [url, ...parts].map((each) => import(/* @vite-ignore */ each)),
  );
  return library;
}

/**
 * The chunks that this page has loaded so far, without its worker. @param {Pick<CairnBuild, 'url'>}
 * build
 */
export function loadedParts({ url }) {
  const entry = new URL(url, location.href).href;
  const folder = entry.slice(0, entry.lastIndexOf('/') + 1);
  const names = performance.getEntriesByType('resource').map(({ name }) => name);
  return names.filter((name) => name.startsWith(folder) && !name.endsWith('/worker.js'));
}
