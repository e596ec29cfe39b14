const BUILD = '/node_modules/mingo/dist/mingo.min.js';

/** The build for browsers, a script. @returns {Promise<typeof import('mingo')>} */
export function loadMingo() {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = BUILD;
    script.onload = () => resolve(/** @type {any} */ (globalThis).mingo);
    script.onerror = () => reject(new Error(`${BUILD} cannot be loaded.`));
    document.head.append(script);
  });
}
