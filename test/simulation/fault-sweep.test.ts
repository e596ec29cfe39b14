import { expect, test } from 'vitest';
import { someEachTime } from '../setup/at-night.ts';
import { type Ending, FaultRun, type Outcome, type Scenario } from './fault-run.ts';
import { FAULT_KINDS, type Fault, STORAGE_CALLS } from './faulty-storage.ts';

const oneTab: Scenario = async (run) => {
  const user = run.open();
  await user.insert('a');
  await user.insert('b');
  await user.push('one');
  await user.saveNotes();
  await user.update('a', 1);
  await user.save();
  const backup = await user.createBackup();
  await user.delete('b');
  await user.insert('c');
  await user.push('two');
  await user.saveLarge(['x', 'y', 'z']);
  await user.loadBackup(backup);
  await user.insert('d');
  await user.delete('a');
  const left = await user.drop();
  await user.insert('e');
  await user.loadBackup(left);
  await user.insert('f');
  await user.close();
  const next = run.open();
  await next.insert('g');
  await next.push('three');
  await next.close();
};

const twoTabs: Scenario = async (run) => {
  run.checker.severalWrite = true;
  const leader = run.open();
  await leader.insert('a');
  const follower = run.open();
  await follower.insert('b');
  await follower.push('one');
  await follower.save();
  await leader.update('b', 1);
  await leader.push('two');
  leader.tab.close();
  await run.wait(5000);
  await follower.update('a', 2);
  await follower.push('three');
  await follower.save();
  await follower.insert('c');
  await follower.close();
};

/** Lets each storage call of a scenario fail in each way. */
async function sweep(
  scenario: Scenario,
  ending: Ending,
  lastings: readonly boolean[],
): Promise<Outcome> {
  const sound = await new FaultRun().run(scenario, ending);
  expect([...sound.problems, ...sound.codes]).toEqual([]);
  const failed: [Fault, Outcome['problems']][] = [];
  for (const fault of someEachTime(faults(sound.calls, lastings))) {
    const { problems, struck } = await new FaultRun(fault).run(scenario, ending);
    if (!struck) failed.push([fault, ['the call was not made']]);
    if (problems.length > 0) failed.push([fault, problems]);
  }
  expect(failed).toEqual([]);
  return sound;
}

function* faults(calls: Outcome['calls'], lastings: readonly boolean[]): Generator<Fault> {
  for (const call of STORAGE_CALLS)
    for (let nth = 0; nth < calls[call]; nth++)
      for (const kind of FAULT_KINDS)
        for (const lasting of lastings) yield { call, nth, kind, lasting };
}

const PATIENCE = 600_000;
const ONCE_AND_LASTING = [false, true];
// What fails once has been put right by the time of the crash.
const LASTING = [true];

test(
  'a tab loses nothing, and storage works again',
  async () => {
    const { merged, calls } = await sweep(oneTab, 'heals', ONCE_AND_LASTING);
    expect(merged).toBe(true);
    for (const call of STORAGE_CALLS) expect([call, calls[call] > 0]).toEqual([call, true]);
  },
  PATIENCE,
);

test(
  'a tab that crashes while storage fails loses nothing that was saved',
  async () => {
    await sweep(oneTab, 'crashes', LASTING);
  },
  PATIENCE,
);

test(
  'two tabs lose nothing when the leader is closed, and storage works again',
  async () => {
    await sweep(twoTabs, 'heals', ONCE_AND_LASTING);
  },
  PATIENCE,
);

test(
  'two tabs that crash while storage fails lose nothing that was saved',
  async () => {
    await sweep(twoTabs, 'crashes', LASTING);
  },
  PATIENCE,
);
