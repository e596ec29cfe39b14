/**
 * `written`: a kill of the process loses nothing that is acknowledged. `synced`: a power cut does
 * not, either.
 *
 * @typedef {'written' | 'synced'} Level
 * @typedef {import('../page/people.mjs').Keyed} Keyed
 */

/**
 * An open store with an index by `group`.
 *
 * @typedef {object} OpenStore
 * @property {(people: Keyed[]) => Promise<unknown>} insertMany until it is acknowledged
 * @property {(person: Keyed) => Promise<unknown>} insert
 * @property {(group: number) => Promise<unknown[]> | unknown[]} findGroup as objects
 * @property {() => Promise<unknown[]> | unknown[]} all as objects
 * @property {() => Promise<unknown> | unknown} close
 */

/**
 * @typedef {object} Contender
 * @property {string} name
 * @property {string} usage how it is used
 * @property {readonly Level[]} levels
 * @property {(directory: string, level: Level, dist: string) => Promise<OpenStore>} open
 */

export {};
