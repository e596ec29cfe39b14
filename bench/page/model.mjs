import { makePeople } from './people.mjs';

/**
 * @typedef {import('./people.mjs').Keyed} Keyed
 *
 * Changes since the initial fill; passed from page to page.
 * @typedef {{ inserted: { part: number, made: number, count: number } } | { aged: { ids: string[],
 *   age: number } } | { deleted: string[] }} Change
 */

/** The expected content and results; every result is compared with it. */
export class Model {
  /** @type {Map<string, Keyed>} */
  documents = new Map();
  #seed;

  /** @param {number} size @param {number} seed @param {readonly Change[]} [changes] */
  constructor(size, seed, changes = []) {
    this.#seed = seed;
    for (const person of makePeople(size, seed)) this.documents.set(person.id, person);
    for (const change of changes) this.apply(change);
  }

  /** @param {Change} change */
  apply(change) {
    if ('inserted' in change) {
      const { part, made, count } = change.inserted; // the first of those made together
      const people = makePeople(made, this.#seed, part).slice(0, count);
      for (const person of people) this.documents.set(person.id, person);
    } else if ('aged' in change) {
      for (const id of change.aged.ids) {
        const person = this.documents.get(id);
        if (person) this.documents.set(id, { ...person, age: change.aged.age });
      }
    } else {
      for (const id of change.deleted) this.documents.delete(id);
    }
  }

  /** @param {(person: Keyed) => boolean} matches */
  select(matches) {
    return [...this.documents.values()].filter(matches);
  }

  /** @param {number} limit */
  firstByScore(limit) {
    return [...this.documents.values()].sort((a, b) => a.score - b.score).slice(0, limit);
  }
}

/**
 * Throws unless these are exactly the expected documents.
 *
 * @param {string} what
 * @param {unknown} found
 * @param {readonly Keyed[]} expected
 * @param {{ plain?: ((document: any) => any) | undefined, ordered?: boolean }} [options]
 */
export function checkFound(what, found, expected, { plain = (it) => it, ordered = false } = {}) {
  if (!Array.isArray(found)) throw new Error(`${what}: not a list, but ${typeof found}.`);
  if (found.length !== expected.length) {
    throw new Error(`${what}: ${found.length} documents instead of ${expected.length}.`);
  }
  const byId = new Map(expected.map((person) => [person.id, person]));
  for (const [index, each] of found.entries()) {
    const document = plain(each);
    const id = document.id ?? document._id;
    const person = ordered ? expected[index] : byId.get(id);
    if (!person || id !== person.id) throw new Error(`${what}: ${id} is not expected there.`);
    byId.delete(id);
    checkSame(what, document, person);
  }
}

/**
 * Compares only the document's own fields, since databases add some.
 *
 * @param {string} what
 * @param {any} document
 * @param {Keyed | undefined} person
 */
export function checkSame(what, document, person) {
  if (!document || !person) {
    throw new Error(`${what}: ${document ? 'a document that must not be' : 'no document'}.`);
  }
  for (const [field, value] of Object.entries(person)) {
    const found = field === 'id' ? (document.id ?? document._id) : document[field];
    if (!isSame(found, value)) {
      throw new Error(
        `${what}: ${person.id} has ${field} ${JSON.stringify(found)} instead of ${JSON.stringify(value)}.`,
      );
    }
  }
}

/** @param {any} a @param {any} b @returns {boolean} */
function isSame(a, b) {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b) return false;
  const fields = Object.keys(b);
  return (
    Object.keys(a).length === fields.length && fields.every((field) => isSame(a[field], b[field]))
  );
}
