/**
 * Something that searches texts.
 *
 * @typedef {object} Contender
 * @property {string} name
 * @property {string} title
 * @property {(database: string) => Promise<Store>} open what was stored before, or nothing
 *
 * @typedef {object} Store
 * @property {(articles: import('./texts.mjs').Article[]) => Promise<void>} insertMany resolves once
 *   all is stored, so that a new visit finds it
 * @property {(query: string, options: { prefix: boolean }) => Promise<number[]>} search the best 20
 *   that have all words; `prefix`: the last one is the beginning of a word
 * @property {boolean} [isSilent] whether it has no index of texts
 * @property {() => Promise<unknown>} [first] of a database: 20 documents by another index
 * @property {() => Promise<unknown>} close
 */

export {};
