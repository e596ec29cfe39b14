import { pathToFileURL } from 'node:url';

/**
 * The server half, as users get it. @param {string} dist @returns {Promise<typeof
 * import('../../src/server/index.ts')>}
 */
export const serverBuild = (dist) => import(pathToFileURL(`${dist}/server.js`).href);

/**
 * The files of documents on a server. @param {string} dist @returns {Promise<typeof
 * import('../../src/server/files/index.ts')>}
 */
export const filesBuild = (dist) => import(pathToFileURL(`${dist}/server-files.js`).href);
