/** An index as declared, in full; plain data. */
export interface IndexDefinition {
  /** The fields, joined by commas. */
  readonly name: string;
  /** Dotted paths, the one that counts most first. */
  readonly fields: readonly string[];
  /** No two documents may have the same key. */
  readonly unique: boolean;
  /** Every item of an array is a key. */
  readonly multi: boolean;
}
