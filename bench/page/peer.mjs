/**
 * A contender: a database, or a hand-written lower bound. Each is one small file in `peers`,
 * which imports its packages lazily.
 *
 * @typedef {object} Peer
 * @property {string} name as on the command line
 * @property {string} title as in tables
 * @property {readonly string[]} packages whose versions are printed
 * @property {'database' | 'limit'} kind
 * @property {boolean} keeps whether documents outlive a reload
 * @property {boolean} resident whether all documents are in memory while it is open
 * @property {'page' | 'worker'} runs where the work is done
 * @property {'id' | '_id'} key of a document
 * @property {Resolved} resolved what a resolved write means
 * @property {string} [savedBy] the call that makes writes durable, if one is needed
 * @property {string} usage how it is used, following its documentation
 * @property {(document: any) => any} [plain] converts a result to a plain object, to check it
 * @property {(libraries: Libraries) => Promise<Opener>} load loads the code without running it
 *
 * @typedef {'in memory' | 'transaction complete' | 'written' | 'flushed'} Resolved in memory:
 *   nothing is stored yet. transaction complete: IndexedDB has it, with relaxed durability, which
 *   outlives the end of the page and of the browser. written: the file has it. flushed: the device
 *   has it too.
 *
 * @typedef {object} Libraries provided by the driver
 * @property {() => Promise<any>} cairn loads Cairn
 *
 * @typedef {object} Opener
 * @property {(name: string) => Promise<Store>} open opens or makes a database with this name, ready
 *   for calls
 *
 * A collection of people, with indexes on group, age and score. Unsupported methods are missing.
 * @typedef {object} Store
 * @property {(documents: Doc[]) => unknown} insertMany
 * @property {(document: Doc) => unknown} [insert]
 * @property {(document: Doc) => unknown} [insertSaved] in one step until it is durable; without it,
 *   `insert`, then `saved`
 * @property {(id: string) => unknown} [get]
 * @property {(ids: string[]) => unknown} [getMany] in one call, in any order
 * @property {(group: number) => unknown} [findGroup] by the index, in any order
 * @property {(from: number, to: number) => unknown} [findAges] from, and below to; by the index, in
 *   any order
 * @property {(from: string, to: string) => unknown} [findZips] from, and below to; without an
 *   index, in any order
 * @property {(limit: number) => unknown} [firstByScore] in order
 * @property {(from: number, to: number) => unknown} [countAges] by the index
 * @property {(ids: string[], age: number) => unknown} [setAges] changes one field of each
 * @property {(ids: string[]) => unknown} [deleteMany]
 * @property {() => unknown} [all] every document, in any order
 * @property {(group: number, changed: (documents: Doc[]) => void) => Promise<() => void>}
 *   [watchGroup] calls with the whole result, now and after each change; returns the function that
 *   stops it
 * @property {() => unknown} [saved] resolves when everything so far is durable; only where
 *   `savedBy` is
 * @property {() => unknown} close
 *
 * @typedef {Record<string, any>} Doc
 */

/** Types a peer. @param {Peer} peer */
export const definePeer = (peer) => peer;
