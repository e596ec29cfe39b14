import type { KeyRange } from 'cairndb';
import { formatNumber } from '../../../parts/format.ts';

/** A key range as text: `= ES`, `100,000 and up`, `from A to below B`. */
export function rangeText({ from, to, fromOpen, toOpen }: KeyRange): string {
  const low = from.filter(isBound).map(show).join(', ');
  const high = to.filter(isBound).map(show).join(', ');
  if (low === '' && high === '') return 'all keys';
  if (low === high) return `= ${low}`;
  if (high === '') return fromOpen ? `above ${low}` : `${low} and up`;
  if (low === '') return toOpen ? `below ${high}` : `up to ${high}`;
  return `${fromOpen ? 'above' : 'from'} ${low} ${toOpen ? 'to below' : 'to'} ${high}`;
}

/** An index of numbers ends at infinity. */
const isBound = (value: unknown): boolean => value !== Infinity && value !== -Infinity;

function show(value: unknown): string {
  if (typeof value === 'number') return formatNumber(value);
  if (typeof value === 'string') return value.length > 24 ? `${value.slice(0, 24)}…` : value;
  return value instanceof Date ? value.toISOString().slice(0, 10) : String(value);
}
