import type { Stored } from 'cairndb';
import { type Column, valueAt } from '../../../database/table.ts';
import { valueText } from '../../../parts/value-text.ts';
import { nameOf } from './names.ts';

/** The text of a cell. */
export function cellText(row: Stored, column: Column): string {
  const value = valueAt(row, column.path);
  const { names } = column;
  return (names && nameOf(names.collection, String(value))) ?? valueText(value);
}

/** The text to edit. */
export function editedText(row: Stored, { path }: Column): string {
  const value = valueAt(row, path);
  return value == null ? '' : String(value);
}

/** The typed value, or its defect. */
export function readCell(
  text: string,
  { kind, title }: Column,
): { readonly value: unknown } | { readonly problem: string } {
  if (kind === 'number') {
    const value = Number(text.replaceAll(',', ''));
    return text.trim() === '' || Number.isNaN(value)
      ? { problem: `${title} must be a number.` }
      : { value };
  }
  if (kind === 'flag') {
    const value = { true: true, false: false }[text.trim()];
    return value === undefined ? { problem: `${title} must be true or false.` } : { value };
  }
  return { value: text };
}
