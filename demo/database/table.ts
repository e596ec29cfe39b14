/** A column of a table, by the path of its field. */
export interface Column {
  readonly path: string;
  readonly title: string;
  readonly kind: 'text' | 'number' | 'date' | 'flag' | 'other';
  /** Its least width in rem. */
  readonly width: number;
  /** The collection whose document it names by `_id`, and the field of that to show. */
  readonly names?: { readonly collection: string; readonly field: string };
  /** Whether it cannot be edited. */
  readonly isFixed?: boolean;
}

/** How a collection is shown. Plain data: tables of visitors' own files are kept in the database. */
export interface Table {
  /** Of the collection. */
  readonly name: string;
  readonly title: string;
  /** One document of it, and many, in the middle of a sentence. */
  readonly noun: readonly [one: string, many: string];
  readonly columns: readonly Column[];
}

/** The columns that a search looks into. */
export const searchedColumns = ({ columns }: Table): Column[] =>
  columns.filter(({ kind }) => kind === 'text');

/** The value at a path of a document, where no key holds a dot. */
export function valueAt(document: object, path: string): unknown {
  let value: unknown = document;
  for (const key of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[key];
  return value;
}
