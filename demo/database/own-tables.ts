import { computed, effect, signal } from '@preact/signals';
import { connection } from './database.ts';
import type { Table } from './table.ts';
import { TABLES } from './tables.ts';

const library = computed(
  () => new (connection().Collection)({ name: 'library', type: 'KEY_VALUE_BASED' }),
);

const own = signal<readonly Table[]>([]);

/**
 * All tables: the playground's own, and those of visitors' files, stored under the key `tables`.
 */
export const tables = computed(() => [...TABLES, ...own.value]);

effect(() =>
  library.value.live('tables').subscribe(({ status, data }) => {
    if (status === 'ready') own.value = Object.values((data ?? {}) as Record<string, Table>);
  }),
);

/** Saves a table. */
export async function keepTable(table: Table): Promise<void> {
  await library.value.set(['tables', table.name], table);
  await library.value.save();
}

export const forgetTable = (name: string): Promise<boolean> =>
  library.value.delete(['tables', name]);

export const isOwn = (table: Table): boolean => !TABLES.includes(table);
