import type { Coroutine } from '../../engine/scheduling/coroutine.ts';
import { request, type Sender } from '../calls/sender.ts';
import type { SharedDocuments } from './shared-documents.ts';

/** Shared documents by id, `undefined` where there is none. */
export function* readShared(
  sender: Sender,
  documents: SharedDocuments,
  ids: readonly string[],
): Coroutine<(object | undefined)[]> {
  const { ask, take } = documents.reading();
  return take(yield* request(sender, { op: 'getShared', ids, shared: ask }));
}
