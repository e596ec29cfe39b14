import { type Check, checkOptions, isAbortSignal, oneOf } from '../../api/options/option-checks.ts';
import { type Coroutine, wait } from '../../async/coroutine.ts';
import type {
  FileCodec,
  FileHeader,
  FileOutput,
  FilePart,
} from '../../backup/file/file-contents.ts';
import { loadFailed } from '../../errors/errors.ts';
import type { Started } from '../../protocol/database-settings.ts';
import type { CollectionSchema } from '../sending/collection-schema.ts';
import type { HandleChannel } from '../sending/handle-channel.ts';
import { post, replyOf, request, type Sender } from '../sending/sender.ts';
import { FileBytes, type ImportOptions } from './file-bytes.ts';
import type { HandleMigration } from './handle-migration.ts';

const importChecks: Record<string, Check> = {
  mode: oneOf(['replace', 'merge'], 'replace'),
  progress: { allowed: 'a function', test: (value) => typeof value === 'function' },
  signal: { allowed: 'an AbortSignal', test: isAbortSignal },
};

/** @throws {CairnError} `load_failed` where a page is offline and its code is not cached. */
const openCodec = (...started: Parameters<typeof openFileCodec>) =>
  openFileCodec(...started).catch(loadFailed);

/** What the records of a file pass through on their way into a collection. */
export interface ImportPath {
  readonly type: FileHeader['type'];
  readonly schema: CollectionSchema | undefined;
  readonly migration: HandleMigration | undefined;
}

/**
 * Decodes a file and sends its parts to the engine, one after the other.
 *
 * @param pathOf What the records of a collection pass through.
 */
export function* importFile(
  sender: Sender,
  op: 'importBackup' | 'importAll',
  source: unknown,
  options: unknown,
  pathOf: (collection: string) => ImportPath | undefined,
): Coroutine<number> {
  const given = checkOptions(options ?? {}, importChecks, 'options');
  const { mode, progress, signal } = given as ImportOptions;
  const file = new FileBytes(source, signal, () => sender.client?.channel.isClosing === true);
  const call = Math.random();
  const importing = post(sender, { op, call, merge: mode === 'merge', urgent: true, once: true });
  file.endWith(importing);
  let parts: FileOutput<FilePart> | undefined;
  let pass: Pass | undefined;
  let sections = 0;
  try {
    const codec = yield* wait(openCodec(sender.started));
    parts = codec.read(file);
    for (let more = true; more; ) {
      const { value: part, done } = yield* wait(file.unlessEnded(parts.next()));
      if (part?.kind === 'header') {
        const path =
          op === 'importBackup' && sections++ ? undefined : pathOf(part.header.collection);
        // What the engine refuses as a whole, it refuses by that name, not for one of its records.
        pass = path?.type === part.header.type ? yield* wait(passOf(path, part.header)) : undefined;
      }
      const documents = yield* request(sender, {
        op: 'importPart',
        call,
        part: part && pass ? pass(part) : (part ?? undefined),
        urgent: true,
      });
      more = documents !== undefined && !done;
      if (documents !== undefined) progress?.({ documents, bytes: file.read });
    }
    const documents = yield* replyOf(importing);
    // The engine counts the last documents once it has stored them.
    progress?.({ documents, bytes: file.read });
    return documents;
  } catch (error) {
    post(sender, { op: 'abort', call, urgent: true });
    throw error;
  } finally {
    file.end();
    // The error of the parts, if any, is already thrown.
    parts?.return().catch(() => undefined);
  }
}

type Pass = (part: FilePart) => FilePart;

async function passOf(
  { schema, migration }: ImportPath,
  header: FileHeader,
): Promise<Pass | undefined> {
  // Its last step passes through the schema.
  const migrate = await migration?.importing(header);
  if (migrate || !schema) return migrate;
  return (part) => (part.kind === 'records' ? schema.importedPart(part) : part);
}

/**
 * Writes the pinned snapshot of a cursor to a file while it is read. Its requests never queue: an
 * import that runs exclusively may be reading this very file.
 */
export function exportedFile(channel: HandleChannel, cursor: number): ReadableStream<Uint8Array> {
  let bytes: FileOutput<Uint8Array> | undefined;
  const end = () => channel.send({ op: 'exportEnd', cursor, urgent: true });
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        bytes ??= (await openCodec(channel.started)).write(exportedParts(channel, cursor));
        const { value, done } = await bytes.next();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        // Unpins the snapshot if the codec failed; a failed engine has already done so.
        end().catch(() => undefined);
        throw error;
      }
    },
    async cancel() {
      await Promise.all([end(), bytes?.return()]);
    },
  });
}

async function* exportedParts(
  channel: HandleChannel,
  cursor: number,
): AsyncGenerator<FilePart, void> {
  for (;;) {
    const part = await channel.send({ op: 'exportNext', cursor, urgent: true });
    if (!part) return;
    yield part as FilePart;
  }
}

/**
 * A codec for one file, in a worker of its own, which ends with the file; in this thread where the
 * engine runs in it, or no worker starts.
 *
 * @param engine How the engine was started.
 */
async function openFileCodec(engine: Started | undefined): Promise<FileCodec> {
  if (engine && engine !== 'thread') {
    // On demand: few pages export, and Jest's CommonJS cannot read `import.meta`, which starts a
    // worker.
    const [{ startFileWorker }, { WorkerCodec }] = await Promise.all([
      import('../connection/worker/worker-start.ts'),
      import('../connection/worker-codec.ts'),
    ]);
    const worker = await startFileWorker();
    if (worker) return new WorkerCodec(worker);
  }
  const { threadCodec } = await import('../../backup/file/thread-codec.ts');
  return threadCodec;
}
