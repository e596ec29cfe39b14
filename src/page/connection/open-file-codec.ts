import type { FileCodec } from '../../backup/file/file-contents.ts';
import type { Started } from '../../protocol/database-settings.ts';

/**
 * A codec for one file, in a worker of its own, which ends with the file; in this thread where the
 * engine runs in it, or no worker starts.
 *
 * @param engine How the engine was started.
 */
export async function openFileCodec(engine: Started | undefined): Promise<FileCodec> {
  if (engine && engine !== 'thread') {
    // On demand: few pages export, and Jest's CommonJS cannot read `import.meta`, which starts a
    // worker.
    const [{ startFileWorker }, { WorkerCodec }] = await Promise.all([
      import('./worker/worker-start.ts'),
      import('./worker-codec.ts'),
    ]);
    const worker = await startFileWorker();
    if (worker) return new WorkerCodec(worker);
  }
  const { threadCodec } = await import('../../backup/file/thread-codec.ts');
  return threadCodec;
}
