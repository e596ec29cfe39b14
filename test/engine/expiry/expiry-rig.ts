import type { DocumentCollection, DocumentCollectionOptions } from '../../../src/index.ts';
import type { StorageDriver } from '../../../src/storage/drivers/driver.ts';
import { memoryDriver } from '../../../src/storage/drivers/memory-driver.ts';
import { openClient, type TestClient } from '../engine-client.ts';
import { FakeClock, settled } from '../fake-clock.ts';

/** A document of these tests. */
interface Entry {
  _id: string;
  at?: unknown;
  n?: number;
  code?: string;
}

/** A collection that expires by its field `at`, at a clock that the test drives. */
export interface ExpiryRig extends TestClient {
  readonly driver: StorageDriver;
  readonly entries: DocumentCollection<Entry>;
  /** A Date so many seconds from the present time of the clock. */
  readonly inSeconds: (seconds: number) => Date;
}

export function openRig(
  options: Partial<DocumentCollectionOptions> = {},
  driver: StorageDriver = memoryDriver(),
  clock = new FakeClock(),
): ExpiryRig {
  const { client } = openClient(driver, clock);
  const entries = new client.Collection<Entry>({
    name: 'entries',
    type: 'DOCUMENT_BASED',
    expire_after: 'at',
    ...options,
  } as DocumentCollectionOptions) as unknown as DocumentCollection<Entry>;
  const inSeconds = (seconds: number) => new Date(clock.now() + seconds * 1000);
  return { client, clock, driver, entries, inSeconds };
}

/**
 * Lets everything happen that is due, until the condition holds: a collection that is hardly open
 * sweeps later.
 */
export async function until(clock: FakeClock, holds: () => boolean): Promise<void> {
  while (!holds()) {
    await clock.advance(0);
    await settled();
  }
}
