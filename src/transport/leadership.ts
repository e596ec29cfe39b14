import { StorageError } from '../errors/storage-error.ts';
import { withDeadline } from '../storage/deadline.ts';

/** How long to wait for the lead. After a reload the old page's lock takes up to half a second to go. */
const LEAD_DEADLINE_MS = 5000;

/** Ends of the leads held in this thread, where there are no Web Locks (Node before version 24). */
const held = new Map<string, Promise<void>>();

/**
 * Takes the lead for a database: one engine per name and origin may write. Held until released, or until
 * the page or worker ends.
 *
 * @throws {StorageError} `database_busy` when another tab keeps the lead.
 */
export function takeLead(name: string): Promise<() => void> {
  const lock = `cairn:${name}`;
  const locks = typeof navigator !== 'undefined' && navigator.locks;
  return locks ? takeLock(lock, name) : takeInThread(lock, name);
}

async function takeInThread(lock: string, name: string): Promise<() => void> {
  for (let end = held.get(lock); end; end = held.get(lock)) {
    await withDeadline(end, LEAD_DEADLINE_MS, () => busy(name));
  }
  let release: () => void = () => undefined;
  const end = new Promise<void>((resolve) => {
    release = resolve;
  });
  held.set(lock, end);
  return () => {
    held.delete(lock);
    release();
  };
}

function takeLock(lock: string, name: string): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const deadline = AbortSignal.timeout(LEAD_DEADLINE_MS);
    navigator.locks
      .request(lock, { signal: deadline }, () => new Promise<void>((release) => resolve(release)))
      .catch((cause: unknown) => reject(deadline.aborted ? busy(name, cause) : cause));
  });
}

function busy(name: string, cause?: unknown): StorageError {
  return new StorageError(
    'database_busy',
    `Database "${name}" is open elsewhere: in another tab, or through another door. Close it there first.`,
    { place: name, cause },
  );
}
