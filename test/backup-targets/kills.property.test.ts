import { expect, test } from 'vitest';
import { type RemoteBackups, restoreFrom } from '../../src/backup-targets/index.ts';
import { fc, runs } from '../setup/properties.ts';
import { backUpIn, newDatabase, newEnvironment, type Row, rowsFrom } from './device.ts';
import { MemoryTarget } from './memory-target.ts';

const command = fc.record({
  device: fc.nat({ max: 1 }),
  change: fc.constantFrom('append', 'patch', 'delete', 'nothing'),
  /** How many calls of the target the run may make; then the device is switched off. */
  calls: fc.oneof(fc.nat({ max: 12 }), fc.constant(Number.POSITIVE_INFINITY)),
  days: fc.integer({ min: 0, max: 3 }),
});

/** The end of a device: what it calls afterwards does nothing and never answers. */
class PowerCut extends Error {}

test('whatever a kill leaves: every listed backup restores exactly, of both devices', {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 2, maxLength: 7 }), async (commands) => {
      const target = new MemoryTarget();
      /** What the database held at each backup, by the run's time. */
      const expected = new Map<string, unknown>();
      const devices = [0, 1].map((number) => {
        const { db, rows } = newDatabase();
        return { number, db, rows, environment: newEnvironment(), next: number * 100_000 };
      });
      for (const { device, change, calls, days } of commands) {
        const on = devices[device] as (typeof devices)[number];
        await on.environment.clock.advance(days * 86_400_000 + 1000);
        const first = on.next;
        if (change === 'append' || on.next % 100_000 === 0) {
          await on.rows.insertMany(rowsFrom(first, 700));
          on.next += 700;
        }
        if (change === 'patch')
          await on.rows.patchMany({ n: { $mod: [97, 1] } }, { text: `p${days}` });
        if (change === 'delete') await on.rows.deleteMany({ n: { $mod: [89, 2] } });
        let left = calls;
        // Each run of a killed device is one of a new page, with the same local memory.
        const cut = new AbortController();
        target.before = () => {
          if (left-- > 0) return;
          cut.abort(new PowerCut());
          throw new PowerCut();
        };
        const options = { retention_days: 2, device: `d${device}` };
        const remote: RemoteBackups = backUpIn(on.environment, on.db, target, options);
        const contents = await on.rows.filter({});
        const before = new Set(target.paths('backups'));
        await remote.run({ signal: cut.signal }).catch((error: unknown) => {
          if (!(error instanceof PowerCut)) throw error;
        });
        remote.stop();
        target.before = () => undefined;
        for (const path of target.paths('backups'))
          if (!before.has(path)) expected.set(path, contents);
        await checkAll(target, expected);
      }
      // Runs of the next days tidy up: nothing is left that no backup names, and no note.
      for (const { db, environment, number } of devices)
        for (let day = 0; day < 5; day++) {
          const options = { retention_days: 2, device: `d${number}` };
          await backUpIn(environment, db, target, options).run();
          await environment.clock.advance(86_400_000);
        }
      expect([...target.objects.keys()].filter((path) => path.includes('/notes/'))).toEqual([]);
      const named = new Set<string>();
      for (const path of target.paths('backups')) {
        const text = new TextDecoder().decode(target.objects.get(path));
        const device = path.split('/')[2];
        for (const [hash] of text.matchAll(/(?<=\[")[0-9a-f]{64}/g)) named.add(`${device}/${hash}`);
      }
      expect(target.paths('parts').map((path) => path.split('/').slice(2).join('/'))).toEqual(
        [...named].sort(),
      );
    }),
    runs(12),
  );
});

async function checkAll(
  target: MemoryTarget,
  expected: ReadonlyMap<string, unknown>,
): Promise<void> {
  const { db, rows } = newDatabase();
  const reader = backUpIn(newEnvironment(), db, target);
  for (const { name, device, problem } of await reader.list()) {
    expect(problem).toBeUndefined();
    await restoreFrom(target, { db, name });
    const [path] = [...expected.keys()].filter((key) => key.includes(`/${device}/${name}`));
    const restored: readonly Row[] = await rows.filter({});
    expect(restored).toEqual(expected.get(path as string));
  }
  await db.close();
}
