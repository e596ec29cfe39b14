import { expect, inject, test } from 'vitest';
import { type Happening, migrateInTabs } from './migration-run.ts';
import { seedsOf } from './run-seeds.ts';

const HAPPENINGS: readonly (readonly [string, Happening])[] = [
  ['nothing happens', () => undefined],
  ['a tab ends', ({ any }) => any.kill()],
  ['a tab is closed', ({ any }) => any.close()],
  ['a tab is frozen for a while', ({ any }) => any.freeze(8000)],
  ['a tab is frozen for longer than a migration waits', ({ any }) => any.freeze(80_000)],
  ['a tab goes into the back/forward cache', ({ any }) => any.rest(5000)],
];

test.each(HAPPENINGS)(
  'each document is migrated once and no change is lost, if %s',
  async (_, happen) => {
    for (const seed of seedsOf(20 * inject('effort')))
      expect([seed, await migrateInTabs(seed, happen)]).toEqual([seed, []]);
  },
);
