import { expect, test } from 'vitest';
import { newBackupName, parseManifestPath } from '../../src/backup-targets/content/target-paths.ts';
import { fc, runs } from '../setup/properties.ts';

const time = fc.oneof(
  fc.integer({ min: 0, max: 8.64e15 }),
  // Around the last second that a name can have, and within one second.
  fc.integer({ min: Date.UTC(9999, 11, 31, 23, 59, 50), max: Date.UTC(10000, 0, 1) }),
  fc.integer({ min: 1_700_000_000_000, max: 1_700_000_002_000 }),
);
const letters = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test('names are in the order of making, whatever the clocks say', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(time, letters), { maxLength: 20 }), (made) => {
      let last: string | undefined;
      for (const [at, random] of made) {
        const name = newBackupName(at, () => random, last);
        expect(parseManifestPath(`0f/backups/d/${name}.json`)).toEqual({ device: 'd', name });
        if (last !== undefined) expect(name > last).toBe(true);
        last = name;
      }
    }),
    runs(400),
  );
});

test('a name without a time is of another program', () => {
  expect(parseManifestPath('0f/backups/d/2026-13-45_99-00-00_abc.json')).toBeUndefined();
});
