import { loadFailed } from '../../errors/errors.ts';
import type { HandleChannel } from '../sending/handle-channel.ts';

/** The code of files of backups: few pages write or read one. @throws {CairnError} `load_failed` */
export const loadFileCalls = () => import('./file-calls.ts').catch(loadFailed);

/** The bytes of the file that a cursor exports. Unpins its snapshot if their code does not load. */
export async function exportedBytes(
  channel: HandleChannel,
  cursor: number,
): Promise<ReadableStream<Uint8Array>> {
  try {
    return (await loadFileCalls()).exportedFile(channel, cursor);
  } catch (error) {
    await channel.send({ op: 'exportEnd', cursor, urgent: true });
    throw error;
  }
}

/** Cancels the source of an import that was refused before it took the source. */
export function cancelUnread<T>(source: unknown, importing: Promise<T>): Promise<T> {
  importing
    .catch((error: unknown) => {
      const stream = source as ReadableStream | undefined;
      // An import that has taken it holds the lock, and cancels it.
      return stream?.locked === false ? stream.cancel(error) : undefined;
    })
    // The source is not needed any more; its errors do not matter.
    .catch(() => undefined);
  return importing;
}
