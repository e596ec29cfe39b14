import { type Check, checkOptions, isAbortSignal, oneOf } from '../options/option-checks.ts';
import { ask, collect, type Exchange, post, wait } from './exchange.ts';
import { FileParts, type ImportOptions } from './file-parts.ts';
import type { CallPort } from './port.ts';

const importChecks: Record<string, Check> = {
  mode: oneOf(['replace', 'merge'], 'replace'),
  progress: { allowed: 'a function', test: (value) => typeof value === 'function' },
  signal: { allowed: 'an AbortSignal', test: isAbortSignal },
};

/** Hands a file to the engine, part by part. */
export function* importFile(
  op: 'importBackup' | 'importAll',
  source: unknown,
  options: unknown,
): Exchange<number> {
  const given = checkOptions(options ?? {}, importChecks, 'options');
  const { mode, progress, signal } = given as ImportOptions;
  const parts = new FileParts(source, signal);
  const call = Math.random();
  const importing = yield* post({ op, call, merge: mode === 'merge', urgent: true, once: true });
  parts.endWith(importing.answer);
  try {
    let read = 0;
    for (let more = true; more; ) {
      const bytes = yield* wait(parts.next());
      const told = yield* ask({ op: 'importPart', call, bytes, urgent: true });
      more = told !== undefined && bytes !== undefined;
      if (!told) continue;
      read = told.bytes;
      progress?.(told);
    }
    const documents = yield* collect(importing);
    // How many came in the last bytes was not known before.
    progress?.({ documents, bytes: read });
    return documents;
  } catch (error) {
    yield* post({ op: 'abort', call, urgent: true });
    throw error;
  } finally {
    parts.end();
  }
}

/**
 * The bytes of a file that the engine has begun to write; made as they are read. They wait for no turn: what has
 * it may be reading this very file.
 */
export function exportedFile(port: CallPort, cursor: number): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const bytes = await port.send({ op: 'exportNext', cursor, urgent: true });
      if (bytes) controller.enqueue(bytes as Uint8Array);
      else controller.close();
    },
    cancel: async () => {
      await port.send({ op: 'exportEnd', cursor, urgent: true });
    },
  });
}
