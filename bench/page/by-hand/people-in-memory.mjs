import { firstByHand } from './first-by-hand.mjs';

/**
 * @typedef {import('../peer.mjs').Doc} Doc
 */

/** Documents in a Map, a second Map by group, loops for the rest. Copies nothing. */
export class PeopleInMemory {
  /** @type {Map<string, Doc>} */
  #byId = new Map();
  /** @type {Map<number, Set<Doc>>} */
  #byGroup = new Map();
  /** @type {((document: Doc) => void) | undefined} */
  changed;

  /** @param {Doc} document */
  insert(document) {
    this.#byId.set(document.id, document);
    const group = this.#byGroup.get(document.group);
    if (group) group.add(document);
    else this.#byGroup.set(document.group, new Set([document]));
  }

  /** @param {readonly Doc[]} documents */
  insertMany(documents) {
    for (const document of documents) this.insert(document);
  }

  /** @param {string} id */
  get(id) {
    return this.#byId.get(id);
  }

  /** @param {readonly string[]} ids */
  getMany(ids) {
    return ids.map((id) => this.#byId.get(id));
  }

  /** @param {number} group */
  findGroup(group) {
    return [...(this.#byGroup.get(group) ?? [])];
  }

  /** @param {number} from @param {number} to */
  findAges(from, to) {
    const found = [];
    for (const document of this.#byId.values()) {
      if (document.age >= from && document.age < to) found.push(document);
    }
    return found;
  }

  /** @param {string} from @param {string} to */
  findZips(from, to) {
    const found = [];
    for (const document of this.#byId.values()) {
      const { zip } = document.address;
      if (zip >= from && zip < to) found.push(document);
    }
    return found;
  }

  /** @param {number} limit */
  firstByScore(limit) {
    return firstByHand([...this.#byId.values()], ({ score }) => score, limit);
  }

  /** @param {number} from @param {number} to */
  countAges(from, to) {
    let count = 0;
    for (const { age } of this.#byId.values()) if (age >= from && age < to) count++;
    return count;
  }

  /** @param {readonly string[]} ids @param {number} age @returns {Doc[]} the changed ones */
  setAges(ids, age) {
    return ids.flatMap((id) => {
      const document = this.#byId.get(id);
      if (!document) return [];
      document.age = age;
      this.changed?.(document);
      return [document];
    });
  }

  /** @param {readonly string[]} ids */
  deleteMany(ids) {
    for (const id of ids) {
      const document = this.#byId.get(id);
      if (!document) continue;
      this.#byId.delete(id);
      this.#byGroup.get(document.group)?.delete(document);
    }
  }

  all() {
    return [...this.#byId.values()];
  }

  /** @param {number} group @param {(documents: Doc[]) => void} changed */
  watchGroup(group, changed) {
    const tell = () => changed(this.findGroup(group));
    this.changed = (document) => {
      if (document.group === group) tell();
    };
    tell();
    return () => {
      this.changed = undefined;
    };
  }
}
