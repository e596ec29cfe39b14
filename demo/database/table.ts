/** A column of a table, by the path of its field. */
export interface Column {
  readonly path: string;
  readonly title: string;
  readonly kind: 'text' | 'number' | 'date' | 'flag' | 'other';
  /** Minimum width in rem. */
  readonly width: number;
  /** The collection it references by `_id`, and the field of that collection to show. */
  readonly names?: { readonly collection: string; readonly field: string };
  /** Read-only. */
  readonly isFixed?: boolean;
}

/**
 * How the grid shows a collection. Plain data, because tables for visitors' files are stored in the
 * database.
 */
export interface Table {
  /** Of the collection. */
  readonly name: string;
  readonly title: string;
  /** Singular and plural, inside a sentence. */
  readonly noun: readonly [one: string, many: string];
  readonly columns: readonly Column[];
}

/** The searched columns. */
export const searchedColumns = ({ columns }: Table): Column[] =>
  columns.filter(({ kind }) => kind === 'text');

/** The value at a path of a document, where no key holds a dot. */
export function valueAt(document: object, path: string): unknown {
  let value: unknown = document;
  for (const key of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[key];
  return value;
}
