import { expect, onTestFinished } from 'vitest';
import { connect, type DatabaseClient, type DocumentCollection } from '../../../src/index.ts';

/** A name that no other test has. */
export const newName = (): string => `moved ${Math.random()}`;

/** A client that is closed after the test. */
export function open(name = newName()): DatabaseClient {
  const db = connect({ name });
  onTestFinished(() => db.close());
  return db;
}

export function documents<T extends object>(
  db: DatabaseClient,
  name = 'moved',
): DocumentCollection<T> {
  return new db.Collection<T>({ name, type: 'DOCUMENT_BASED' });
}

/** Rows for more than one batch. */
export const rows = Array.from({ length: 523 }, (_, n) => ({ id: n + 1, name: `row ${n + 1}` }));

/** What every move does: it stops, goes on, ends, and does nothing more. */
export async function checkMove(
  db: DatabaseClient,
  total: number,
  to: { count(): Promise<number> },
  move: (failAt?: number) => Promise<number>,
): Promise<void> {
  await expect(move(510)).rejects.toThrow('the page ended');
  const before = await to.count();
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(total);
  expect(await Promise.all([move(), move()])).toEqual([total, total]);
  expect(await to.count()).toBe(total);
  await db.save();
  expect(await move(0)).toBe(total);
  expect(await to.count()).toBe(total);
}

/** A `convert` that throws at a number of calls. */
export function failing<A extends unknown[], R>(convert: (...given: A) => R, failAt = Infinity) {
  let calls = 0;
  return (...given: A): R => {
    if (calls++ === failAt) throw new Error('the page ended');
    return convert(...given);
  };
}
