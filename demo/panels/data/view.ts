import { computed, signal } from '@preact/signals';
import type { Sort } from 'cairndb';
import { collectionOf } from '../../database/database.ts';
import { tables } from '../../database/own-tables.ts';
import { searchedColumns } from '../../database/table.ts';
import { TABLES } from '../../database/tables.ts';
import { Rows } from './grid/rows.ts';
import { criteriaFor } from './recipes/search.ts';

export const ARCHIVED = { active: false, archived: 'only', all: true } as const;

/** The state of the data panel, kept while others are open. */
const tableName = signal('cities');
export const searchText = signal('');
export const archivedChoice = signal<keyof typeof ARCHIVED>('active');
export const sorting = signal<{ readonly path: string; readonly direction: 1 | -1 } | undefined>(
  undefined,
);

/** The current table; the first one if it was removed. */
export const table = computed(
  () =>
    tables.value.find(({ name }) => name === tableName.value) ?? (TABLES[0] as (typeof TABLES)[0]),
);

/** The queried rows: a new object for each query. */
export const askedRows = computed(() => {
  const { path, direction } = sorting.value ?? {};
  const sort = (path ? { [path]: direction } : undefined) as Sort<object> | undefined;
  return new Rows(
    collectionOf(table.value.name),
    criteriaFor(
      searchText.value.trim(),
      searchedColumns(table.value).map(({ path }) => path),
    ),
    { archived: ARCHIVED[archivedChoice.value], sort },
  );
});

export function showTable(name: string): void {
  if (name === tableName.peek()) return;
  tableName.value = name;
  searchText.value = '';
  sorting.value = undefined;
  archivedChoice.value = 'active';
}
