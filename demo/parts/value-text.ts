import { formatDay, formatNumber } from './format.ts';

/** The text of a value. */
export function valueText(value: unknown): string {
  if (value == null) return '';
  if (typeof value === 'number') return formatNumber(value);
  if (value instanceof Date) return formatDay(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
