import { SimBroadcast } from './sim-broadcast.ts';
import { SimLocks } from './sim-locks.ts';
import { SimStorage } from './sim-storage.ts';
import { SimSwitchboard } from './sim-switchboard.ts';
import type { World } from './world.ts';

/** What all tabs of a browser share. */
export interface Browser {
  readonly world: World;
  readonly locks: SimLocks;
  readonly broadcast: SimBroadcast;
  readonly switchboard: SimSwitchboard;
  readonly storage: SimStorage;
  /** What the clock on the wall is ahead of the time that has gone by, in milliseconds. */
  ahead: number;
}

export function simulateBrowser(world: World, storage = new SimStorage(world)): Browser {
  const [locks, broadcast] = [new SimLocks(world), new SimBroadcast(world)];
  return { world, locks, broadcast, switchboard: new SimSwitchboard(world), storage, ahead: 0 };
}
