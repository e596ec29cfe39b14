import { signal } from '@preact/signals';
import type { Stored } from 'cairndb';
import { collectionOf } from '../../../database/database.ts';
import { type Column, valueAt } from '../../../database/table.ts';
import { namesOf } from '../recipes/names.ts';

/** Names of referenced documents by collection and `_id`, as far as requested. */
const known = signal<ReadonlyMap<string, string>>(new Map());
const asked = new Set<string>();

const keyOf = (collection: string, id: string) => `${collection}/${id}`;

export const nameOf = (collection: string, id: string): string | undefined =>
  known.value.get(keyOf(collection, id));

/** Finds the missing names for these rows, each once. */
export function askNames(columns: readonly Column[], rows: readonly Stored[]): void {
  for (const { path, names } of columns) {
    if (!names) continue;
    const { collection, field } = names;
    const ids = [...new Set(rows.map((row) => String(valueAt(row, path))))].filter(
      (id) => !asked.has(keyOf(collection, id)),
    );
    if (ids.length === 0) continue;
    for (const id of ids) asked.add(keyOf(collection, id));
    namesOf(collectionOf(collection), ids, field).then(
      (found) => {
        const entries = Array.from(found, ([id, name]) => [keyOf(collection, id), name] as const);
        known.value = new Map([...known.value, ...entries]);
      },
      // The grid shows ids then, and the error.
      () => {
        for (const id of ids) asked.delete(keyOf(collection, id));
      },
    );
  }
}
