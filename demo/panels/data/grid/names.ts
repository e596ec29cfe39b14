import { signal } from '@preact/signals';
import type { Stored } from 'cairndb';
import { collectionOf } from '../../../database/database.ts';
import { type Column, valueAt } from '../../../database/table.ts';
import { namesOf } from '../recipes/names.ts';

/** Names of documents of other collections by collection and `_id`, as far as they were asked for. */
const known = signal<ReadonlyMap<string, string>>(new Map());
const asked = new Set<string>();

const keyOf = (collection: string, id: string) => `${collection}/${id}`;

export const nameOf = (collection: string, id: string): string | undefined =>
  known.value.get(keyOf(collection, id));

/** Finds the names that the columns of these rows need and that are not known, once each. */
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
      // Shown are the ids then; the grid itself says what is wrong.
      () => {
        for (const id of ids) asked.delete(keyOf(collection, id));
      },
    );
  }
}
