import type { FilePart } from '../../backup/file/file-contents.ts';
import { openFileCodec } from '../../transport/file-worker/open-file-codec.ts';
import { type Check, checkOptions, isAbortSignal, oneOf } from '../options/option-checks.ts';
import { ask, collect, type Exchange, post, started, wait } from './exchange.ts';
import { FileBytes, type ImportOptions } from './file-bytes.ts';
import type { CallPort } from './port.ts';

const importChecks: Record<string, Check> = {
  mode: oneOf(['replace', 'merge'], 'replace'),
  progress: { allowed: 'a function', test: (value) => typeof value === 'function' },
  signal: { allowed: 'an AbortSignal', test: isAbortSignal },
};

/** Decodes a file and sends its parts to the engine, one after the other. */
export function* importFile(
  op: 'importBackup' | 'importAll',
  source: unknown,
  options: unknown,
): Exchange<number> {
  const given = checkOptions(options ?? {}, importChecks, 'options');
  const { mode, progress, signal } = given as ImportOptions;
  const file = new FileBytes(source, signal);
  const call = Math.random();
  const importing = yield* post({ op, call, merge: mode === 'merge', urgent: true, once: true });
  file.endWith(importing.answer);
  let parts: AsyncGenerator<FilePart, void> | undefined;
  try {
    const codec = yield* wait(openFileCodec(yield* started()));
    parts = codec.read(file);
    for (let more = true; more; ) {
      const { value: part, done } = yield* wait(parts.next());
      const documents = yield* ask({
        op: 'importPart',
        call,
        part: part ?? undefined,
        urgent: true,
      });
      more = documents !== undefined && !done;
      if (documents !== undefined) progress?.({ documents, bytes: file.read });
    }
    const documents = yield* collect(importing);
    // The engine counts the last documents after it has taken them.
    progress?.({ documents, bytes: file.read });
    return documents;
  } catch (error) {
    yield* post({ op: 'abort', call, urgent: true });
    throw error;
  } finally {
    file.end();
    // Its error, if any, is thrown already.
    parts?.return().catch(() => undefined);
  }
}

/**
 * Writes the pinned snapshot of a cursor to a file while it is read. Its requests take no turn: a call that has it may
 * be reading this very file.
 */
export function exportedFile(port: CallPort, cursor: number): ReadableStream<Uint8Array> {
  let bytes: AsyncGenerator<Uint8Array, void> | undefined;
  const end = () => port.send({ op: 'exportEnd', cursor, urgent: true });
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        bytes ??= (await openFileCodec(port.started)).write(exportedParts(port, cursor));
        const { value, done } = await bytes.next();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        // Unpins the snapshot where the codec failed, and not the engine.
        end().catch(() => undefined);
        throw error;
      }
    },
    async cancel() {
      await end();
      await bytes?.return();
    },
  });
}

async function* exportedParts(port: CallPort, cursor: number): AsyncGenerator<FilePart, void> {
  for (;;) {
    const part = await port.send({ op: 'exportNext', cursor, urgent: true });
    if (!part) return;
    yield part as FilePart;
  }
}
