import type { FileCodec, FilePart } from '../../backup/file/file-contents.ts';
import { systemClock } from '../../engine/scheduling/clock.ts';
import { WorkerError } from '../../errors/worker-error.ts';
import { Watchdog } from '../wire/watchdog.ts';
import { fromWire } from '../wire/wire-error.ts';
import type { FileReply, FileRequest } from './file-worker-protocol.ts';

/** Seconds of silence after which the worker counts as dead: parsing the longest line takes about one. */
const SILENCE_S = 30;

/** Most bytes of one message. */
const PIECE = 256 * 1024;

/** A worker that writes or reads one file. It pulls its input from this thread, with backpressure. */
export class FileWorker implements FileCodec {
  readonly #worker: Worker;
  readonly #watchdog: Watchdog;
  #input: AsyncIterator<unknown> | undefined;
  /** Settle the pending request for the next output. */
  #resolve: ((value: unknown) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;
  #pong: () => void = () => undefined;
  /** Set once the worker or the input has failed. */
  #failure: { readonly error: unknown } | undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
    this.#watchdog = new Watchdog(SILENCE_S, systemClock, {
      busy: () => this.#resolve !== undefined,
      ping: () =>
        new Promise<void>((resolve) => {
          this.#pong = resolve;
          this.#send({ kind: 'ping' });
        }),
      silent: () => this.#fail(lost(`has not answered for ${SILENCE_S} s`)),
    });
    worker.addEventListener('message', ({ data }: MessageEvent<FileReply>) => this.#receive(data));
    worker.addEventListener('messageerror', () => this.#fail(lost('sent an unreadable message')));
    worker.addEventListener('error', (event) => {
      event.preventDefault();
      this.#fail(lost(`failed: ${event.message}`));
    });
  }

  write(parts: AsyncIterable<FilePart>): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    return this.#convert('write', parts);
  }

  read(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<FilePart, void> {
    return this.#convert('read', pieces(bytes));
  }

  async *#convert<Output>(
    kind: 'write' | 'read',
    input: AsyncIterable<unknown>,
  ): AsyncGenerator<Output, void> {
    this.#input = input[Symbol.asyncIterator]();
    this.#send({ kind });
    try {
      for (;;) {
        const value = await this.#next();
        if (value === undefined) return;
        yield value as Output;
      }
    } finally {
      this.#watchdog.stop();
      this.#worker.terminate();
      await this.#input.return?.();
    }
  }

  #next(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      if (this.#failure) return this.#fail(this.#failure.error);
      this.#send({ kind: 'next' });
      this.#watchdog.wake();
    });
  }

  /** Ignores a late READY of the start. */
  #receive(reply: FileReply): void {
    if (reply.kind === 'pull') void this.#supply();
    else if (reply.kind === 'pong') this.#pong();
    else if (reply.kind === 'failure') this.#fail(fromWire(reply.error));
    else if (reply.kind === 'output') {
      this.#resolve?.(reply.value);
      this.#resolve = undefined;
    }
  }

  async #supply(): Promise<void> {
    try {
      const { value } = (await this.#input?.next()) ?? {};
      this.#send(
        { kind: 'input', value },
        value instanceof Uint8Array ? [value.buffer as ArrayBuffer] : [],
      );
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#reject?.(this.#failure.error);
    this.#resolve = undefined;
  }

  #send(request: FileRequest, transfer: Transferable[] = []): void {
    this.#worker.postMessage(request, transfer);
  }
}

/** Copies for transfer: the memory of the chunks belongs to their source. */
async function* pieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += PIECE) yield chunk.slice(at, at + PIECE);
  }
}

function lost(what: string): WorkerError {
  return new WorkerError(
    'worker_lost',
    `The worker that writes or reads the file ${what}. Nothing was changed; try again.`,
  );
}
