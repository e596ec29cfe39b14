import { afterAll, describe, expect, test } from 'vitest';
import { isNight } from '../../setup/at-night.ts';
import { DISK_KINDS, Disk, type DiskKind, restores } from './disks.ts';
import { SCENARIOS, type Scenario, Site } from './scenarios.ts';

afterAll(() => {
  for (const restore of restores) restore();
});

let names = 0;

/** A write that fills the disk, alone or with all that follow. */
interface Fault {
  readonly nth: number;
  readonly isLasting: boolean;
}

/** @returns whether a write was refused. */
async function run(kind: DiskKind, scenario: Scenario, { nth, isLasting }: Fault) {
  const disk = new Disk(kind);
  const site = new Site(`full ${++names}`, disk, scenario.options);
  await scenario.before?.(site);
  disk.fill(nth, isLasting);
  await scenario.act(site);
  if (isLasting && site.db.status.unsaved > 0) await site.save();
  const { struck } = disk;
  const { status } = site.db;
  // What tidies up is tried again without a word.
  for (const code of site.codes) expect(code).toBe('storage_full');
  if (!struck) expect(site.codes).toEqual([]);
  // One that an outbox has begun may still be under way.
  if (struck && isLasting && status.unsaved > 0)
    await expect.poll(() => site.db.status.last_error?.code).toBe('storage_full');
  disk.free();
  await scenario.after?.(site);
  expect(await site.found()).toEqual(site.contents);
  await site.put('later', 7);
  await site.db.save();
  expect(site.db.status).toMatchObject({ unsaved: 0, last_error: undefined });
  for (const end of site.ends) await end();
  await site.db.close();
  site.open();
  expect(await site.found()).toEqual(site.contents);
  expect(await site.things.verify()).toMatchObject({ whole: true, problems: [] });
  await site.db.close();
  return struck;
}

/** Lets each write of a scenario find the disk full. @returns how many there are. */
async function sweep(kind: DiskKind, scenario: Scenario, isLasting: boolean): Promise<number> {
  // The layers of the platform differ in how they refuse alone.
  const step = kind === 'memory' || isNight ? 1 : 4;
  for (let nth = isLasting ? 0 : step >> 1; ; nth += step)
    try {
      if (!(await run(kind, scenario, { nth, isLasting }))) return nth;
    } catch (cause) {
      throw new Error(`write ${nth}`, { cause });
    }
}

describe.each(DISK_KINDS)('%s', (kind) => {
  test.each(SCENARIOS)('full at any write of $name', async (scenario) => {
    expect(await sweep(kind, scenario, true)).toBeGreaterThan(0);
    expect(await sweep(kind, scenario, false)).toBeGreaterThan(0);
  });
});
