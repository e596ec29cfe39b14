import { pathToFileURL } from 'node:url';

/**
 * The server half, as users get it. @param {string} dist @returns {Promise<typeof
 * import('../../src/server/index.ts')>}
 */
export const serverBuild = (dist) => import(pathToFileURL(`${dist}/server.js`).href);
