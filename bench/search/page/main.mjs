/** The page's functions for the driver. */
import { textSteps } from './text-steps.mjs';
import { vectorSteps } from './vector-steps.mjs';

/** @typedef {import('./steps.mjs').Terms} Terms */

const of = (/** @type {string} */ kind) => (kind === 'texts' ? textSteps : vectorSteps);

/** Each on a fresh page. */
const bench = {
  names: (/** @type {string} */ kind) => of(kind).contenders.map(({ name }) => name),
  insert: (/** @type {Terms} */ terms) => of(terms.kind).insert(terms),
  filter: (/** @type {Terms} */ terms) => of(terms.kind).filter(terms),
  reload: (/** @type {Terms} */ terms) => of(terms.kind).reload(terms),
  search: (/** @type {Terms} */ terms) => of(terms.kind).search(terms),
};

Object.assign(globalThis, { bench });

/** @typedef {typeof bench} Bench */
