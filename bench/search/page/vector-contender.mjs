/**
 * Something that finds the nearest vectors.
 *
 * @typedef {object} Contender
 * @property {string} name
 * @property {string} title
 * @property {(database: string) => Promise<Store>} open what was stored before, or nothing
 *
 * @typedef {object} Store
 * @property {true} [keepsNothing] whether all is lost with the page
 * @property {(count: number, make: () => Float32Array) => Promise<void>} insertAll resolves once
 *   all is stored
 * @property {Nearest} nearest by a look at each
 * @property {Nearest} [ofTenth] the same, of a tenth of them
 * @property {(query: Float32Array) => Promise<number>} [train] resolves once there are cells, with
 *   the recall that they promise
 * @property {Nearest} [inCells] approximate
 * @property {(query: Float32Array, exact: boolean) => Promise<number>} [inEngine] milliseconds in
 *   the engine, without documents
 * @property {() => Promise<unknown>} close
 *
 * @typedef {(query: Float32Array, k: number) => Promise<number[]>} Nearest the numbers of the
 *   nearest, the nearest first
 */

export {};
