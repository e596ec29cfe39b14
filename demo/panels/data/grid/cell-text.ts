import type { Stored } from 'cairndb';
import { type Column, valueAt } from '../../../database/table.ts';
import { formatCountry, formatDay, formatNumber } from '../../../parts/format.ts';
import { nameOf } from './names.ts';

/** What a cell shows. */
export function cellText(row: Stored, { path, names, isCountry }: Column): string {
  const value = valueAt(row, path);
  if (value == null) return '';
  if (names) return nameOf(names.collection, String(value)) ?? String(value);
  if (isCountry) return formatCountry(String(value));
  if (typeof value === 'number') return formatNumber(value);
  if (value instanceof Date) return formatDay(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** What a cell is edited as. */
export function editedText(row: Stored, { path }: Column): string {
  const value = valueAt(row, path);
  return value == null ? '' : String(value);
}

/** The value that was typed, or what is wrong with it. */
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
