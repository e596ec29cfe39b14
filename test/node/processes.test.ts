import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, inject, test } from 'vitest';
import { Database } from '../../src/index.ts';
import { files } from '../../src/node/index.ts';
import { makeFolder } from '../../tools/browsers/child.mjs';
import { rejection } from '../contract/outcomes.ts';
import { Random } from '../setup/random.ts';
import { buildProgram, ChildProgram } from './child-program.ts';
import { type Order, ordersOf, stateAfter } from './shop-model.ts';

const KILLS = 6 * inject('effort');

let program: string;

beforeAll(async () => {
  program = await buildProgram('shop-process.ts');
});

/** The orders in the files, without what the engine adds. */
async function storedOrders(directory: string): Promise<Order[]> {
  const db = new Database({ name: 'shop', storage: files(directory) });
  try {
    const orders = await ordersOf(db).filter({}, { sort: { n: 1 } });
    expect(db.status.last_error).toBeUndefined();
    return orders.map(({ n, touched, text }) => ({ n, touched, text }));
  } finally {
    await db.close();
  }
}

/** The newest step that a process has printed as saved. */
function lastSaved({ printed }: ChildProgram): number {
  const steps = printed
    .filter((line) => line.startsWith('saved'))
    .map((line) => line.split(' ')[1]);
  return Number(steps.at(-1) ?? 0);
}

/**
 * What is stored is the state after the newest step that was acknowledged, or the next one: no
 * other, and none in part.
 */
async function expectNoLoss(directory: string, acknowledged: number): Promise<void> {
  const found = await storedOrders(directory);
  const step = found.at(-1)?.n ?? 0;
  expect([acknowledged, acknowledged + 1]).toContain(step);
  expect(found).toEqual(stateAfter(step));
}

test.each(['steps', 'strict'])(
  'kill -9 loses nothing that save() has acknowledged: %s',
  async (command) => {
    const directory = makeFolder('killed');
    const random = new Random(inject('seed'));
    for (let kill = 0; kill < KILLS / 2; kill++) {
      const child = new ChildProgram([program, directory, command]);
      for (let saves = random.between(1, 120); saves > 0; saves--) await child.until('saved');
      await child.end();
      await expectNoLoss(directory, lastSaved(child));
    }
  },
  60_000 * inject('effort'),
);

test('a full disk refuses saves with storage_full, and loses nothing', async () => {
  const directory = makeFolder('full');
  // The log of LevelDB is the largest file.
  const limited = ['prlimit', '--fsize=1000000:unlimited'];
  const child = new ChildProgram([program, directory, 'steps'], limited);
  await child.until('refused storage_full');
  const before = lastSaved(child);
  execFileSync('prlimit', ['--pid', String(child.pid), '--fsize=unlimited']);
  for (let saves = 0; saves < 5; saves++) await child.until('saved');
  await child.end();
  expect(lastSaved(child)).toBeGreaterThanOrEqual(before + 5);
  const refusals = child.printed.filter((line) => line.startsWith('refused'));
  expect(new Set(refusals)).toEqual(new Set(['refused storage_full']));
  await expectNoLoss(directory, lastSaved(child));
});

test('a database has one process: others get database_busy, until it ends', async () => {
  const directory = makeFolder('busy');
  const child = new ChildProgram([program, directory, 'hold']);
  await child.until('open');
  const db = new Database({ name: 'shop', storage: files(directory) });
  const error = await rejection(ordersOf(db).count());
  expect(error).toMatchObject({ name: 'StorageError', code: 'database_busy' });
  expect(error.message).toContain(join(directory, 'shop'));
  expect((await rejection(files(directory).delete?.('shop') as Promise<void>)).code).toBe(
    'database_busy',
  );
  const other = new Database({ name: 'other', storage: files(directory) });
  expect(await ordersOf(other).count()).toBe(0);
  await other.close();
  await child.end();
  expect(await storedOrders(directory)).toEqual([]);
});

test('of the threads of a process one has a database, and the refused ones leave it the lock', async () => {
  const busy = 'database_busy';
  const threads = await buildProgram('threads-process.ts');
  const directory = makeFolder('threads');
  const child = new ChildProgram([threads, directory]);
  await child.until('waits');
  expect(child.printed).toEqual([`${busy} ${busy} ${busy} open`, busy, busy, 'waits']);
  const db = new Database({ name: 'shop', storage: files(directory) });
  expect((await rejection(ordersOf(db).count())).code).toBe(busy);
  process.kill(child.pid, 'SIGUSR2');
  expect(await child.line()).toBe('open');
  expect((await rejection(files(directory).delete?.('shop') as Promise<void>)).code).toBe(busy);
  await child.end();
  expect(await storedOrders(directory)).toEqual([]);
  // What a thread that was ended, or the process, has left is in nobody's way.
  expect(readdirSync(join(directory, 'shop')).filter((file) => /json/.test(file))).toEqual([
    'cairndb.json',
  ]);
});

test('a process that never closes its database ends when all is saved', async () => {
  const directory = makeFolder('leave');
  expect(await new ChildProgram([program, directory, 'leave']).exit()).toBe(0);
  expect(await storedOrders(directory)).toEqual([{ n: 1, touched: 0, text: 'leave' }]);
});

test('a process that only looks whether its database opens ends', async () => {
  const directory = makeFolder('look');
  expect(await new ChildProgram([program, directory, 'look']).exit()).toBe(0);
});

test('a process that closes its database at a signal has saved', async () => {
  const directory = makeFolder('signal');
  const child = new ChildProgram([program, directory, 'signal']);
  await child.until('ready');
  expect(await child.end('SIGTERM')).toBe(0);
  expect(await storedOrders(directory)).toEqual([{ n: 1, touched: 0, text: 'signal' }]);
});

test('without the package classic-level calls reject with driver_missing, and nothing is made', async () => {
  const directory = join(makeFolder('missing'), 'data');
  const child = new ChildProgram([await buildProgram('shop-process.ts', false), directory, 'hold']);
  expect(await child.line()).toMatch(/^failed driver_missing .*npm install classic-level/);
  expect(await child.exit()).toBe(0);
});

test('a directory in which the process may not write is directory_unusable', async () => {
  const directory = makeFolder('forbidden');
  chmodSync(directory, 0o555);
  // Permissions do not hold for root.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const child = new ChildProgram([program, directory, 'hold'], [], user);
  expect(await child.line()).toMatch(/^failed directory_unusable .*Give files\(\) a directory/);
  expect(await child.exit()).toBe(0);
});
