/** A column of a table, by the path of its field. */
export interface Column {
  readonly path: string;
  readonly title: string;
  readonly kind: 'text' | 'number' | 'date' | 'flag' | 'other';
  /** Its least width in rem. */
  readonly width: number;
  /** The collection whose document it names by `_id`, and the field of that to show. */
  readonly names?: { readonly collection: string; readonly field: string };
  /** Whether its values are codes of countries. */
  readonly isCountry?: boolean;
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

/** The paths that a search looks into: what people read there is what is stored. */
export const searchedPaths = ({ columns }: Table): string[] =>
  columns
    .filter(({ kind, names, isCountry }) => kind === 'text' && !names && !isCountry)
    .map(({ path }) => path);

/** The value at a path of a document, where no key holds a dot. */
export function valueAt(document: object, path: string): unknown {
  let value: unknown = document;
  for (const key of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[key];
  return value;
}
