import type { FileCodec } from '../../backup/file/file-contents.ts';
import type { Started } from '../channel/channel.ts';
import { startFileWorker } from '../worker/worker-start.ts';
import { FileWorker } from './file-worker.ts';

/**
 * A codec for one file, in a worker of its own, which ends with the file; in this thread where the engine runs in it,
 * or no worker starts.
 *
 * @param engine How the engine was started.
 */
export async function openFileCodec(engine: Started | undefined): Promise<FileCodec> {
  const worker = engine && engine !== 'thread' ? await startFileWorker() : undefined;
  if (worker) return new FileWorker(worker);
  const { threadCodec } = await import('../../backup/file/thread-codec.ts');
  return threadCodec;
}
