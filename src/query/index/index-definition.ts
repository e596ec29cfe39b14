/** A complete declaration of an index; plain data. */
export interface IndexDefinition {
  /** The fields, joined by commas; a comma in a field is escaped. */
  readonly name: string;
  /** Dotted paths, the most significant first. */
  readonly fields: readonly string[];
  /** No two documents may have the same key. */
  readonly unique: boolean;
  /** Every item of an array is a key. */
  readonly multi: boolean;
}

/** The fields joined by commas; a comma in a field is escaped, so that names are unique. */
export function indexName(fields: readonly string[]): string {
  return fields.map((field) => field.replace(/[\\,]/g, '\\$&')).join();
}
