import { createHash } from 'node:crypto';
import { serialize } from 'node:v8';
import { expect } from 'vitest';
import type { DatabaseClient, DocumentCollectionOptions } from '../../src/index.ts';
import type { DocumentCollection } from '../../src/page/collections/document-collection.ts';
import { ids, openClient } from '../engine/engine-client.ts';
import { FakeClock, settled } from '../engine/fake-clock.ts';
import { someEachTime } from '../setup/at-night.ts';
import {
  type Cut,
  type FaultyDriver,
  faultyDriver,
  type StorageCall,
} from '../storage/faulty-driver.ts';
import { driverWith, readStored, type Stored, segmentsOf } from './stored.ts';

export type Things = DocumentCollection<any>;

type Options = Partial<DocumentCollectionOptions>;

/** An operation to interrupt at each storage call. */
export interface Scenario {
  readonly name: string;
  /** Sets up the initial state. */
  readonly before: (world: World) => Promise<unknown>;
  /** Changes the stored initial state. */
  readonly tamper?: (stored: Stored) => Stored;
  /** Milliseconds between `before` and `act`. */
  readonly later?: number;
  /** Options of the collection from `act` on. */
  readonly options?: Options;
  /** The operation to interrupt; returns its promises. */
  readonly act: (world: World) => Promise<unknown>[];
  /** Further allowed contents, computed from those before. */
  readonly between?: (before: string, known: Known) => readonly string[];
}

/** A client with its clock, and a collection. */
export interface World {
  readonly client: DatabaseClient;
  readonly clock: FakeClock;
  readonly things: Things;
  open(options?: Options): Things;
}

/** The contents of earlier backups, by name. */
type Known = ReadonlyMap<string, string>;

/** The initial state of a scenario and its allowed results. */
export interface Prepared {
  readonly scenario: Scenario;
  readonly caching: boolean;
  readonly stored: Stored;
  readonly now: number;
  readonly known: Known;
  /** Contents allowed after a cut. */
  readonly allowed: readonly string[];
  /** How many ids were generated before `act`. */
  readonly idsGiven: number;
  /** Storage calls of `act`. */
  readonly calls: readonly StorageCall[];
  /** Verified states of storage: many cuts leave the same one, and it determines the check. */
  readonly checked: Set<string>;
}

function enter(driver: FaultyDriver, now: number, options: Options): World {
  const { client, clock } = openClient(driver, new FakeClock(now));
  const open = (more: Options = {}): Things =>
    new client.Collection<any>({
      name: 'things',
      type: 'DOCUMENT_BASED',
      activate_drop_method: true,
      backup_retention_time: -1,
      ...options,
      ...more,
    });
  return { client, clock, things: open(), open };
}

/** The contents of the collection as text, or the code of the error if it cannot be read. */
export async function contentsOf(things: Things): Promise<string> {
  try {
    const all = await things.filter({}, { archived: true });
    return all
      .map(
        ({ _id, _archived, n, pad }) =>
          `${_id}${_archived ? '*' : ''}=${n}${pad ? `+${pad.length}` : ''}`,
      )
      .join(' ');
  } catch (error) {
    return (error as { code: string }).code;
  }
}

/** The only backup with a document `a`, the oldest of four. */
export async function soleBackup(things: Things): Promise<string> {
  const empty = await things.createBackup();
  await things.insert({ _id: 'a', n: 1, pad: 'p'.repeat(70_000) });
  const name = await things.createBackup();
  await things.loadBackup(empty);
  const [undo] = await things.listBackups();
  await things.deleteBackup(undo!.name);
  await things.deleteBackup(empty);
  for (const label of ['second', 'third', 'newest']) await things.createBackup({ label });
  return name;
}

/** Resolves when storage is idle. */
export async function atRest(driver: FaultyDriver): Promise<void> {
  let calls = driver.log.length;
  for (let quiet = 0; quiet < 4; quiet++) {
    await settled();
    if (driver.underWay > 0 || driver.log.length !== calls) quiet = 0;
    calls = driver.log.length;
  }
}

/** Runs an act until all its promises have settled; if one never does, the test times out. */
async function perform(driver: FaultyDriver, world: World, act: Scenario['act']): Promise<void> {
  await Promise.allSettled(act(world));
  await atRest(driver);
  expect(driver.writesAtOnce).toBeLessThan(2);
}

export async function prepare(scenario: Scenario, caching: boolean): Promise<Prepared> {
  const start = 1_700_000_000_000;
  const first = faultyDriver();
  const making = enter(first, start, { caching });
  await scenario.before(making);
  await making.client.close();
  const made = await readStored(first);
  const stored = scenario.tamper?.(made) ?? made;
  const now = start + making.clock.elapsed() + (scenario.later ?? 0);
  const options = { ...scenario.options, caching };
  const known = new Map<string, string>();
  for (const { name } of await enter(first, now, { caching }).things.listBackups()) {
    known.set(name, await contentsOfBackup(await freshDriver(made), now, { caching }, name));
  }
  const before = await contentsOf(enter(await freshDriver(stored), now, { caching }).things);
  const driver = await freshDriver(stored);
  const world = enter(driver, now, options);
  await perform(driver, world, scenario.act);
  const calls = [...driver.log];
  await world.client.close();
  const after = await contentsOf(enter(driver, now, options).things);
  const allowed = [before, after, ...(scenario.between?.(before, known) ?? [])];
  const { given: idsGiven } = ids;
  return { scenario, caching, stored, now, known, allowed, idsGiven, calls, checked: new Set() };
}

/** Runs `happen` for each storage call of an act, with a fault before and after it takes effect. */
export async function forEachCut(
  { calls }: Pick<Prepared, 'calls'>,
  dies: boolean,
  happen: (cut: Cut) => Promise<void>,
): Promise<void> {
  expect(calls).toContain('write');
  for (const cut of someEachTime(cutsOf(calls, dies))) {
    try {
      await happen(cut);
    } catch (error) {
      throw new Error(`${cut.when} call ${cut.after} of ${calls}`, { cause: error });
    }
  }
}

/** Where a series of storage calls can be cut. For a read, before and after are the same. */
function* cutsOf(calls: readonly StorageCall[], dies: boolean): Generator<Cut> {
  for (const [after, call] of calls.entries()) {
    yield { after, when: 'before', dies };
    if (call === 'write') yield { after, when: 'after', dies };
  }
}

/** Interrupts the act at a call. The same ids each time make equal results comparable. */
export async function cutAt(
  { scenario, caching, stored, now, idsGiven }: Prepared,
  cut: Cut,
): Promise<{ driver: FaultyDriver; world: World }> {
  ids.given = idsGiven;
  const driver = await freshDriver(stored);
  driver.cut(cut);
  const world = enter(driver, now, { ...scenario.options, caching });
  await perform(driver, world, scenario.act);
  expect(driver.wasCut).toBe(true);
  return { driver, world };
}

/**
 * Goes on with a client after a failed call: all methods work, and its data is right.
 * @returns its contents at close.
 */
export async function goOn(
  { allowed }: Prepared,
  driver: FaultyDriver,
  world: World,
): Promise<string> {
  // If it failed to open or was dropped, it is constructed again.
  const opened = await world.things.count().then(
    () => true,
    () => false,
  );
  const things = opened ? world.things : world.open();
  const found = await contentsOf(things);
  expect(allowed).toContain(found);
  if (found === 'data_damaged') {
    await world.client.close();
    return found;
  }
  await things.insert({ _id: 'later', n: 0 });
  const name = await things.createBackup({ label: 'later' });
  await things.update('later', { n: 1 });
  await things.save();
  await things.loadBackup(name);
  expect(await contentsOf(things)).toBe(found ? `${found} later=0` : 'later=0');
  const labels = (await things.listBackups()).map(({ label }) => label);
  expect(labels.filter((label) => label !== 'daily').slice(0, 2)).toEqual([
    'before loadBackup()',
    'later',
  ]);
  const oldest = (await things.listBackups()).at(-1)!;
  expect(await things.deleteBackup(oldest.name)).toBe(true);
  await atRest(driver);
  const held = await contentsOf(things);
  await world.client.close();
  return held;
}

/**
 * Checks the contents of a database after a fault.
 * @param present The allowed contents of the collection.
 */
export async function checkWhole(
  { scenario, caching, known, allowed, now, checked }: Prepared,
  driver: FaultyDriver,
  present = allowed,
): Promise<void> {
  const left = digestOf(await readStored(driver), present);
  if (checked.has(left)) return;
  const options = { ...scenario.options, caching };
  const world = enter(driver, now, options);
  const { things } = world;
  const found = await contentsOf(things);
  expect(present).toContain(found);
  await atRest(driver);
  const verification = await things.verify();
  if (found !== 'data_damaged') {
    expect(verification).toMatchObject({ whole: true, problems: [] });
    // A write triggers garbage collection.
    await things.insert({ _id: 'sweep', n: 0 });
    await things.save();
    await atRest(driver);
  }
  const backups = await things.listBackups();
  await world.client.close();
  const stored = await readStored(driver);
  if (found !== 'data_damaged') {
    const { there, named } = segmentsOf(stored);
    expect(there).toEqual(named);
  }
  const names = backups.map(({ name }) => name);
  if (known.size > 0) expect(names.length).toBeGreaterThan(0);
  for (const name of names) {
    const copy = await freshDriver(stored);
    const held = await contentsOfBackup(copy, now, options, name);
    if (known.has(name)) expect(held).toBe(known.get(name));
    else expect(allowed).toContain(held.replace(/ ?later=.$/, ''));
  }
  checked.add(left);
}

/** Equal for equivalent states: random numbers are left out. */
function digestOf({ recovery, snapshots, ...stored }: Stored, present: readonly string[]): string {
  const left = {
    ...stored,
    recovery: recovery.map(([key, { claim: _, ...leader }]) => [key, leader]),
    snapshots: snapshots.map(([key, { asked: _, ...snapshot }]) => [key, snapshot]),
  };
  return createHash('sha256')
    .update(serialize([left, present]))
    .digest('hex');
}

async function freshDriver(stored: Stored): Promise<FaultyDriver> {
  return faultyDriver(await driverWith(stored));
}

/** Loads a backup and reads its contents, also after a reload. */
async function contentsOfBackup(
  driver: FaultyDriver,
  now: number,
  options: Options,
  name: string,
): Promise<string> {
  const world = enter(driver, now, options);
  await world.things.loadBackup(name);
  const held = await contentsOf(world.things);
  await world.client.close();
  expect(await contentsOf(enter(driver, now, options).things)).toBe(held);
  return held;
}
