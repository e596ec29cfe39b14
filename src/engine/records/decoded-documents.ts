import { valueReader } from '../../query/path/own-property.ts';

/** The most columns kept: those of the paths that were read first. */
const MOST_COLUMNS = 16;

/**
 * The decoded documents of a collection, in order, as of one moment. What a scan needs of them
 * comes as columns: going over one is ten times faster than fetching the same value from every
 * document.
 */
export class DecodedDocuments {
  readonly documents: readonly object[];
  /** By path; `undefined` for one that was read once. */
  readonly #columns = new Map<string, readonly unknown[] | undefined>();

  constructor(documents: readonly object[]) {
    this.documents = documents;
  }

  /**
   * The values at a dotted path, `undefined` for a missing field; the first array on the path where
   * there is one. Made at the second read: a change drops all columns.
   */
  column(path: string): readonly unknown[] | undefined {
    if (!this.#columns.has(path)) {
      if (this.#columns.size < MOST_COLUMNS) this.#columns.set(path, undefined);
      return undefined;
    }
    const made = this.#columns.get(path) ?? this.documents.map(valueReader(path));
    this.#columns.set(path, made);
    return made;
  }
}
