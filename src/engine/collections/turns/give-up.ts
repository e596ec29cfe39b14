import { asCairnError } from '../../../errors/as-cairn-error.ts';
import type { BackupRequests } from '../../backups/backup-requests.ts';
import type { GiveUp } from '../../executor.ts';
import type { SerialQueue } from '../../scheduling/serial-queue.ts';
import type { CollectionContext } from '../collection-context.ts';
import type { Store } from './execute-once.ts';

/** Ends what a call has begun that its client no longer waits for. */
export function giveUp(
  request: GiveUp,
  store: Store,
  backups: BackupRequests,
  { events }: CollectionContext,
  queue: SerialQueue,
): void {
  if (request.op === 'scanEnd') {
    store.execute(request);
    void backups.views.endScan(request);
  } else if (request.op === 'viewEnd') backups.views.end(request.reader);
  // Earlier parts may wait in the queue.
  else if (request.op === 'insertAbandon') void queue.enter(false, () => store.execute(request));
  else if (request.op === 'abort') backups.abort(request.call);
  else {
    backups.endExport(request.cursor).catch((error: unknown) => {
      events.failed(asCairnError(error));
    });
  }
}
