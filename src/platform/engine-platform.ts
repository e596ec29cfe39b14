import { systemClock } from '../async/clock.ts';
import { indexedDbDriver } from '../storage/drivers/indexeddb-driver.ts';
import type { Broadcast, EnginePlatform, Locks } from './platform.ts';
import { navigatorObject, platformObject } from './platform-object.ts';

const driver = indexedDbDriver();

/** The platform of an engine in a worker. Its page has the locks by which it leads. */
export const enginePlatform: EnginePlatform = {
  clock: systemClock,
  locks: navigatorObject('locks') as Locks,
  broadcast: openBroadcast(),
  newPorts: () => new MessageChannel(),
  get storage() {
    return platformObject('indexedDB') && driver;
  },
  terminable: true,
};

/** `undefined` where no channel opens. */
function openBroadcast(): ((name: string) => Broadcast) | undefined {
  const open = (name: string) => new BroadcastChannel(name) as unknown as Broadcast;
  try {
    open('cairn:').close();
    return open;
  } catch {
    return undefined;
  }
}
