import fc from 'fast-check';
import { expect } from 'vitest';
import type { CairnError, DatabaseClient } from '../../src/index.ts';
import type { StorageDriver } from '../../src/storage/drivers/driver.ts';
import { openClient } from '../engine/engine-client.ts';
import { FakeClock, settled } from '../engine/fake-clock.ts';
import { type FaultMoment, faultyDriver, outage } from '../storage/faulty-driver.ts';

/** Now and then large enough for segments to fill and to be merged. */
export const padding = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.nat(40).map((kilobytes) => 'p'.repeat(kilobytes * 1024)) },
);

/** Commands, and what may happen between them. */
export type Step<Command> =
  | { readonly step: 'await' | 'sync'; readonly command: Command }
  /** Issued at once, awaited together. */
  | { readonly step: 'together'; readonly commands: readonly Command[] }
  | { readonly step: 'advance'; readonly ms: number }
  | { readonly step: 'settle' | 'save' }
  | { readonly step: 'reload' | 'crash'; readonly caching: boolean }
  | { readonly step: 'fault'; readonly when: FaultMoment; readonly times: number };

/** @param atOnce Those that may be issued together: each has to be one call. */
export function steps<Command>(
  command: fc.Arbitrary<Command>,
  atOnce = command,
): fc.Arbitrary<Step<Command>[]> {
  const caching = fc.boolean();
  const step: fc.Arbitrary<Step<Command>> = fc.oneof(
    {
      weight: 20,
      arbitrary: fc.record({ step: fc.constantFrom('await' as const, 'await', 'sync'), command }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        step: fc.constant('together' as const),
        commands: fc.array(atOnce, { minLength: 2, maxLength: 6 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        step: fc.constant('advance' as const),
        // The last figure is longer than a cache is retained.
        ms: fc.constantFrom(1, 500, 1000, 40_000, 11 * 60_000),
      }),
    },
    { weight: 4, arbitrary: fc.record({ step: fc.constantFrom('settle' as const, 'save') }) },
    { weight: 1, arbitrary: fc.record({ step: fc.constant('reload' as const), caching }) },
    { weight: 1, arbitrary: fc.record({ step: fc.constant('crash' as const), caching }) },
    {
      weight: 2,
      arbitrary: fc.record({
        step: fc.constant('fault' as const),
        when: fc.constantFrom<FaultMoment>('before', 'after'),
        times: fc.integer({ min: 1, max: 3 }),
      }),
    },
  );
  return fc.array(step, { minLength: 1, maxLength: 60 });
}

/** What a kind of collection has to bring to be tested. */
export interface Subject<Collection, Command, State> {
  open(client: DatabaseClient, caching: boolean): Collection;
  /** The state of the model. */
  state: State;
  /** Fixes what a command refers to, as of now. */
  bind(command: Command): Command;
  /** Lets the model do it; what comes back is what the real one should have answered. */
  model(command: Command, now: number, answer: unknown): unknown;
  real(collection: Collection, command: Command): unknown;
  sync(collection: Collection, command: Command): unknown;
  /** Everything that is there, and what the state says should be. */
  contents(collection: Collection): Promise<unknown>;
  expected(state: State): unknown;
}

/**
 * Takes a collection and its model through the same steps.
 *
 * @param inner The driver that stores, with a new database; by default in memory.
 */
export async function runSteps<Collection extends { ready: Promise<void> }, Command, State>(
  subject: Subject<Collection, Command, State>,
  script: readonly Step<Command>[],
  startCached: boolean,
  inner?: StorageDriver,
): Promise<void> {
  const driver = faultyDriver(inner);
  let caching = startCached;
  let clock = new FakeClock();
  let { client } = openClient(driver, clock);
  let collection = subject.open(client, caching);
  /** States since the last one that is known to be saved; a crash may lead to any of them. */
  let history: State[] = [subject.state];

  const note = () => {
    history.push(subject.state);
    if (client.status.unsaved === 0) history = history.slice(-1);
  };
  const check = (command: Command, answer: unknown) => {
    const wanted = subject.model(command, clock.now(), answer);
    expectSame(answer, wanted);
    note();
  };
  const reopen = (cached: boolean) => {
    const next = new FakeClock();
    void next.advance(clock.elapsed());
    clock = next;
    caching = cached;
    client = openClient(driver, clock).client;
    collection = subject.open(client, caching);
  };

  for (const step of script) {
    switch (step.step) {
      case 'await': {
        const command = subject.bind(step.command);
        check(command, await outcome(() => subject.real(collection, command)));
        break;
      }
      case 'sync': {
        const command = subject.bind(step.command);
        await collection.ready;
        const answer = caching
          ? outcomeNow(() => subject.sync(collection, command))
          : await outcome(() => subject.real(collection, command));
        check(command, answer);
        break;
      }
      case 'together': {
        const commands = step.commands.map((command) => subject.bind(command));
        const answers = commands.map((command) => outcome(() => subject.real(collection, command)));
        for (const [at, command] of commands.entries()) check(command, await answers[at]);
        break;
      }
      case 'advance':
        await clock.advance(step.ms);
        break;
      case 'settle':
        await settled();
        break;
      case 'save': {
        const error = await client.save().then(
          () => undefined,
          (reason: unknown) => reason,
        );
        if (error) expect(error).toBe(outage);
        else {
          expect(client.status.unsaved).toBe(0);
          history = history.slice(-1);
        }
        break;
      }
      case 'reload':
        await client.close().catch(async (error: unknown) => {
          expect(error).toBe(outage);
          expect(client.status.state).toBe('open');
          driver.heal();
          await client.close();
        });
        driver.heal();
        expect(clock.waiting).toBe(0);
        reopen(step.caching);
        history = history.slice(-1);
        expectSame(await subject.contents(collection), subject.expected(subject.state));
        break;
      case 'crash': {
        driver.crash();
        clock.stop();
        reopen(step.caching);
        const found = await subject.contents(collection);
        const at = history.findLastIndex((state) => isSame(found, subject.expected(state)));
        if (at < 0) expectSame(found, subject.expected(history[0] as State));
        expect(at).toBeGreaterThanOrEqual(0);
        subject.state = history[at] as State;
        history = [subject.state];
        break;
      }
      case 'fault':
        driver.inject({ call: 'write', when: step.when, times: step.times });
        break;
    }
    if (client.status.unsaved === 0) history = history.slice(-1);
  }
  driver.heal();
  expectSame(await subject.contents(collection), subject.expected(subject.state));
  await client.close();
  reopen(!caching);
  expectSame(await subject.contents(collection), subject.expected(subject.state));
  await client.close();
}

/** What a call answers, or `{ code }` of its error. */
export async function outcome(call: () => unknown): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    return { code: (error as CairnError).code };
  }
}

function outcomeNow(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return { code: (error as CairnError).code };
  }
}

/** Equal, with fields in the same order. */
export function expectSame(found: unknown, wanted: unknown): void {
  expect(found).toStrictEqual(wanted);
  expect(keyOrder(found)).toEqual(keyOrder(wanted));
}

export function isSame(found: unknown, wanted: unknown): boolean {
  try {
    expectSame(found, wanted);
    return true;
  } catch {
    return false;
  }
}

/** The keys of a value, or of the values in an array, in order. */
function keyOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(keyOrder);
  return typeof value === 'object' && value !== null ? Object.keys(value) : undefined;
}
