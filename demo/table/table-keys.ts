import type { CityAction } from './city-row.ts';

/** The row that a key leads to, `undefined` if it is not a key of movement. */
export function rowAfterKey(
  key: string,
  row: number,
  count: number,
  page: number,
): number | undefined {
  const target: Record<string, number> = {
    ArrowDown: row + 1,
    ArrowUp: row - 1,
    PageDown: row + page,
    PageUp: row - page,
    Home: 0,
    End: count - 1,
  };
  const next = target[key];
  return next === undefined ? undefined : Math.max(0, Math.min(next, count - 1));
}

const ACTIONS: Record<string, CityAction> = {
  Enter: 'edit',
  F2: 'edit',
  a: 'archive',
  A: 'archive',
  Delete: 'delete',
};

/** What a key does to the row. */
export const actionOfKey = (key: string): CityAction | undefined => ACTIONS[key];
