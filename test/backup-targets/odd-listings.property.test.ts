import { expect, test } from 'vitest';
import { type RemoteBackups, restoreFrom } from '../../src/backup-targets/index.ts';
import { fc, runs } from '../setup/properties.ts';
import { backUpIn, newDatabase, newEnvironment, rowsFrom } from './device.ts';
import { MemoryTarget } from './memory-target.ts';

const DAY = 86_400_000;
const RETENTION = 3;

/**
 * What a list answers: as of some writes ago, nothing, nothing of a kind, a part of it, or an
 * error.
 */
const answer = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ kind: 'true' as const }) },
  fc.record({ kind: fc.constant('lags' as const), writes: fc.integer({ min: 1, max: 30 }) }),
  fc.record({
    kind: fc.constant('empty' as const),
    of: fc.constantFrom('', '/backups/', '/parts/'),
  }),
  fc.record({ kind: fc.constant('lacks' as const), every: fc.integer({ min: 1, max: 5 }) }),
  fc.constant({ kind: 'fails' as const }),
);
const step = fc.record({
  change: fc.constantFrom('append', 'replace', 'back', 'nothing'),
  /** Days until the run; the clock may be set wrong besides, for this run alone. */
  days: fc.constantFrom(0, 0, 1, 2),
  clock: fc.constantFrom(0, 0, 0, 40 * DAY, -40 * DAY),
  answers: fc.array(answer, { maxLength: 8 }),
  isNewPage: fc.boolean(),
});

/** A target whose lists lag, lie and fail; gets and puts are as promised. */
class OddTarget extends MemoryTarget {
  answers: (typeof answer extends fc.Arbitrary<infer T> ? T : never)[] = [];
  /** What was stored after each write. */
  readonly #history: string[][] = [[]];

  override async put(path: string, bytes: Uint8Array): Promise<void> {
    await super.put(path, bytes);
    this.#history.push([...this.objects.keys()]);
  }

  override async delete(path: string): Promise<void> {
    await super.delete(path);
    this.#history.push([...this.objects.keys()]);
  }

  override async list(prefix: string): Promise<string[]> {
    const now = await super.list(prefix);
    const next = this.answers.shift();
    switch (next?.kind) {
      case 'lags': {
        const then = this.#history.at(-1 - next.writes) ?? [];
        return then.filter((path) => path.startsWith(prefix));
      }
      case 'empty':
        return now.filter((path) => !path.includes(next.of));
      case 'lacks':
        return now.filter((_, at) => at % next.every !== 0);
      case 'fails':
        throw Object.assign(new Error('no'), { name: 'NotAllowedError' });
      default:
        return now;
    }
  }
}

test('whatever lists say: a backup that was reported as made restores exactly until it expires, and the last made is the newest', {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 12 }), async (steps) => {
      const target = new OddTarget();
      const { db, rows } = newDatabase();
      const environment = newEnvironment();
      const options = { device: 'd', retention_days: RETENTION };
      /** By name: what the database held, and when, by the right clock. */
      const made = new Map<string, { readonly content: unknown; readonly day: number }>();
      let remote: RemoteBackups | undefined;
      let today = 0;
      let next = 1000;
      let timesAhead = 0;
      for (const { change, days, clock, answers, isNewPage } of steps) {
        await environment.clock.advance(days * DAY + 700);
        today += days;
        next += 1000;
        if (change === 'append') await rows.insertMany(rowsFrom(next, 300));
        if (change === 'replace' || change === 'back') await rows.deleteMany({});
        // What was there before makes the parts of then.
        if (change === 'replace') await rows.insertMany(rowsFrom(next, 300));
        if (change === 'back') await rows.insertMany(rowsFrom(0, 300));
        if (isNewPage) remote?.stop();
        if (isNewPage || !remote) remote = backUpIn(environment, db, target, options);
        environment.clock.jump(clock);
        target.answers = [...answers];
        const content = await rows.filter({});
        const run = await remote.run().catch((error: { code?: string }) => {
          if (error.code !== 'target_denied') throw error;
        });
        target.answers = [];
        environment.clock.jump(-clock);
        if (run) made.set(run.name, { content, day: today });
        // Two clocks that agree are believed.
        if (clock > 0) timesAhead++;
        const isKept = ({ day }: { readonly day: number }, at: number) =>
          at >= made.size - 2 || (timesAhead < 2 && day > today - RETENTION);
        const kept = [...made].filter(([, backup], at) => isKept(backup, at));
        const reader = backUpIn(newEnvironment(), db, target, { device: 'reader' });
        for (const [name] of kept) expect(await reader.verify(name)).toMatchObject({ whole: true });
        const newest = kept.at(-1);
        if (run) expect((await reader.list())[0]?.name).toBe(newest?.[0]);
        if (newest) await expectRestored(target, newest[0], newest[1].content);
      }
    }),
    runs(40),
  );
});

async function expectRestored(target: MemoryTarget, name: string, content: unknown): Promise<void> {
  const { db, rows } = newDatabase();
  expect(await restoreFrom(target, { db })).toMatchObject({ name });
  expect(await rows.filter({})).toEqual(content);
  await db.close();
}
