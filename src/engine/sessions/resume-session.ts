import { databaseDestroyed } from '../../storage/drivers/database-id.ts';
import type { AcknowledgedChange, OpenedHandles, Replayed } from '../protocol/requests.ts';

/** The session of a client that joins an engine. */
interface Resumed {
  openAll(opened: OpenedHandles): void;
  replay(changes: readonly AcknowledgedChange[]): Promise<ReadonlyMap<number, unknown>>;
}

/**
 * Opens the client's handles, and applies its changes, unless they were made to a database that was deleted since.
 *
 * @param known The id of the database that the client knows.
 * @throws {StorageError} `database_destroyed`
 */
export async function resumeSession(
  session: Resumed,
  databaseId: () => Promise<string>,
  opened: OpenedHandles,
  changes: readonly AcknowledgedChange[],
  known: string | undefined,
): Promise<Replayed> {
  let refusal: unknown;
  if (known !== undefined) {
    const id = await databaseId().catch((error: unknown) => {
      refusal = error;
      return known;
    });
    if (id !== known) throw databaseDestroyed();
  }
  session.openAll(opened);
  // The client replays again while storage fails.
  if (refusal)
    return { failures: new Map(changes.map((_, index) => [index, refusal])), database: known };
  const failures = await session.replay(changes);
  return { failures, database: await databaseId().catch(() => undefined) };
}
