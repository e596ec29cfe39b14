import { PageLocks } from './page-locks.ts';
import type { Locks } from './platform.ts';
import { platformObject } from './platform-object.ts';

/**
 * Requests that wait for changes keep so many connections to a host, of all pages of an origin.
 * Over HTTP/1.1 a browser has six, and with all of them kept no other request is ever sent. Half of
 * them: another origin of the same site shares the six, and no locks.
 */
const MOST_HELD = 3;

/** In a page or its worker: other runtimes open as many connections as they need. */
const pageLocks = platformObject('location') && new PageLocks();

/**
 * Runs what keeps a connection to a host, unless too many are kept.
 *
 * @param locks Count them.
 * @returns whether it ran.
 */
export async function holdConnection(
  url: string,
  run: () => Promise<unknown>,
  locks: Locks | undefined = pageLocks,
): Promise<boolean> {
  const { origin } = new URL(url);
  const hold = () => run().then(() => true);
  if (!locks || isMultiplexed(origin)) return hold();
  for (let place = 0; place < MOST_HELD; place++) {
    const name = `cairn-connection:${origin}:${place}`;
    const options = { ifAvailable: true };
    if (await locks.request(name, options, (lock) => (lock ? hold() : undefined))) return true;
  }
  return false;
}

/**
 * Whether all requests share a connection, as those of HTTP/2 and 3 do. Unknown for another origin
 * that does not send `Timing-Allow-Origin`.
 */
function isMultiplexed(origin: string): boolean {
  const requests = platformObject('performance')?.getEntriesByType?.('resource') ?? [];
  return (requests as PerformanceResourceTiming[]).some(
    ({ name, nextHopProtocol }) => name.startsWith(`${origin}/`) && /^h[23]/.test(nextHopProtocol),
  );
}
