import type { Column } from '../database/table.ts';
import { formatCountry, formatDay, formatNumber } from './format.ts';

/** What is shown of a value. */
export function valueText(value: unknown, { isCountry }: Pick<Column, 'isCountry'> = {}): string {
  if (value == null) return '';
  if (isCountry) return formatCountry(String(value));
  if (typeof value === 'number') return formatNumber(value);
  if (value instanceof Date) return formatDay(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
