import type { NewDocument } from 'cairndb';
import type { Column, Table } from '../database/table.ts';
import { fileRows, UnreadableFile } from './file-rows.ts';
import type { Source } from './source.ts';

const MOST_COLUMNS = 8;
const WIDTHS: Readonly<Record<Column['kind'], number>> = {
  text: 12,
  number: 8,
  date: 9,
  flag: 6,
  other: 10,
};

/**
 * A visitor's file as a source, with a table for its fields.
 *
 * @param taken Existing collection names, so that a file gets a new one.
 * @throws {UnreadableFile} naming the defect.
 */
export async function openFile(
  file: File,
  taken: readonly string[],
): Promise<{ source: Source; table: Table }> {
  const rows = fileRows(file);
  const first = (await rows.next()).value ?? [];
  if (first.length === 0) throw new UnreadableFile(`There are no rows in ${file.name}.`);
  const documents = toDocuments(first, file.name, 0);
  const name = freeName(file.name, taken);
  const table: Table = { name, title: name, noun: ['row', 'rows'], columns: columnsOf(documents) };
  const source: Source = {
    collection: name,
    title: name,
    total: undefined,
    async *batches() {
      yield documents;
      let before = first.length;
      for await (const more of rows) {
        yield toDocuments(more, file.name, before);
        before += more.length;
      }
    },
  };
  return { source, table };
}

/** @param before Number of rows before these. */
const toDocuments = (rows: readonly unknown[], file: string, before: number): NewDocument[] =>
  rows.map((row, index) => toDocument(row, `Row ${before + index + 1} of ${file}`));

/** A row as a document. Keys lose their dots, which separate paths in criteria. */
function toDocument(row: unknown, place: string): NewDocument {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) {
    throw new UnreadableFile(`${place} has no fields: ${JSON.stringify(row).slice(0, 40)}`);
  }
  const entries = Object.entries(row).map(([key, value]) =>
    key === '_id' ? [key, String(value)] : [key.replaceAll('.', '_').trim() || 'unnamed', value],
  );
  return Object.fromEntries(entries);
}

function freeName(name: string, taken: readonly string[]): string {
  let free = name;
  for (let number = 2; taken.includes(free); number++) free = `${name} (${number})`;
  return free;
}

function columnsOf(documents: readonly NewDocument[]): Column[] {
  const columns = new Map<string, Column>();
  for (const document of documents) {
    for (const [path, value] of leaves(document)) {
      if (value == null || path === '_id' || columns.has(path)) continue;
      const kind = kindOf(value);
      columns.set(path, {
        path,
        title: path,
        kind,
        width: WIDTHS[kind],
        isFixed: kind === 'other' || kind === 'date',
      });
    }
  }
  return [...columns.values()].slice(0, MOST_COLUMNS);
}

/** Fields, and those one level deeper. */
function leaves(document: object): [path: string, value: unknown][] {
  return Object.entries(document).flatMap(([key, value]): [string, unknown][] =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
      ? Object.entries(value).map(([inner, deep]): [string, unknown] => [`${key}.${inner}`, deep])
      : [[key, value]],
  );
}

function kindOf(value: unknown): Column['kind'] {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return 'number';
  if (typeof value === 'boolean') return 'flag';
  return value instanceof Date ? 'date' : 'other';
}
