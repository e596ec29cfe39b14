import {
  REPLICATION,
  type Replicable,
  type ReplicationAccess,
} from '../../src/page/collections/replication-access.ts';
import type { Remote } from '../../src/replication/index.ts';
import { Replication } from '../../src/replication/replication.ts';
import {
  parseOptions,
  type ReplicationOptions,
} from '../../src/replication/replication-options.ts';
import { type TestClock, turn } from './fetching/test-clock.ts';

/** Replicates a collection in a page, at the time of a test. */
export function replicateAt(
  clock: TestClock,
  collection: Replicable,
  remote: Remote,
  isVisible = true,
  options: Partial<ReplicationOptions> = {},
): Replication {
  const environment = {
    ...{ clock, random: () => 0.5, isVisible: () => isVisible },
    onReturn: () => () => undefined,
  };
  return new Replication(
    collection[REPLICATION] as ReplicationAccess,
    parseOptions({ remote, ...options }),
    environment,
  );
}

/** Lets all that is under way come to rest. */
export async function rest(): Promise<void> {
  for (let turns = 0; turns < 60; turns++) await turn();
}
