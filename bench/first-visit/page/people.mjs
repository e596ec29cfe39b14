import { makePeople } from '../../page/people.mjs';

/**
 * What an app does at a visit: opens its database and shows the documents of one group.
 *
 * @typedef {object} App
 * @property {(people: readonly any[]) => Promise<unknown>} fill stores them, until they are durable
 * @property {(group: number) => Promise<readonly unknown[]>} findGroup
 */

/**
 * Fills the database where the address asks for it, else times the first answer from the start of
 * the navigation. @param {App} app
 */
export async function visit(app) {
  const script = performance.now();
  const size = Number(new URLSearchParams(location.search).get('fill'));
  if (size) await app.fill(makePeople(size, 1));
  const { length } = await app.findGroup(7);
  Object.assign(globalThis, { visited: { found: length, script, answer: performance.now() } });
  console.debug('visited');
}
