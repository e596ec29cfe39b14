/** A complete declaration of an index; plain data. */
export interface IndexDefinition {
  /** The fields, joined by commas, and the collation in parentheses; both are escaped in fields. */
  readonly name: string;
  /** Dotted paths, the most significant first. */
  readonly fields: readonly string[];
  /** No two documents may have the same key. */
  readonly unique: boolean;
  /** Every item of an array is a key. */
  readonly multi: boolean;
  /** The order of its strings, as `parseCollation` writes it; left out for code units. */
  readonly collation?: string | undefined;
  /** What makes it another kind of index. */
  readonly special?: SpecialIndex | undefined;
  /** Criteria of the documents that are in it, of comparisons with JSON's scalars; else all are. */
  readonly where?: Readonly<Record<string, unknown>> | undefined;
}

/** An index without an order, which no criteria use. Its code is a part of the engine. */
export interface SpecialIndex {
  readonly part: 'search' | 'vectors';
  /** What it is declared with, as JSON. */
  readonly options: object;
}

/** A name that no other index has; a comma or parenthesis in a field is escaped. */
export function indexName(
  fields: readonly string[],
  { collation, where }: Pick<IndexDefinition, 'collation' | 'where'> = {},
): string {
  const name = fields.map((field) => field.replace(/[\\,(]/g, '\\$&')).join();
  const marks = [collation, where && `where ${JSON.stringify(where)}`].filter(Boolean);
  return marks.length > 0 ? `${name} (${marks.join(', ')})` : name;
}
