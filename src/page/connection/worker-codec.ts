import { systemClock } from '../../async/clock.ts';
import type { FileCodec, FileOutput, FilePart } from '../../backup/file/file-contents.ts';
import { WorkerError, type WorkerErrorCode } from '../../errors/errors.ts';
import { Watchdog } from '../../platform/watchdog.ts';
import { fromWire } from '../../protocol/wire-error.ts';
import type { FileReply, FileRequest } from '../../protocol/wire-protocol.ts';

/**
 * Seconds of silence after which the worker counts as dead: parsing the longest line takes about
 * one.
 */
const SILENCE_S = 30;

/** Most bytes of one message. */
const PIECE = 256 * 1024;

/** A worker that writes or reads one file, whose input it pulls with backpressure. */
export class WorkerCodec implements FileCodec {
  readonly #worker: Worker;
  readonly #watchdog: Watchdog;
  #input: AsyncIterator<unknown> | undefined;
  /** Settle the pending request for the next output. */
  #resolve: ((value: unknown) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;
  #pong: () => void = () => undefined;
  #ended = false;
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
      silent: () => this.#fail(failure('worker_unresponsive', `did not answer for ${SILENCE_S} s`)),
    });
    worker.addEventListener('message', ({ data }: MessageEvent<FileReply>) => this.#receive(data));
    worker.addEventListener('messageerror', () =>
      this.#fail(failure('worker_lost', 'sent an unreadable message')),
    );
    worker.addEventListener('error', (event) => {
      event.preventDefault();
      this.#fail(failure('worker_lost', `failed: ${event.message}`));
    });
  }

  write(parts: AsyncIterable<FilePart>): FileOutput<Uint8Array<ArrayBuffer>> {
    return this.#convert('write', parts);
  }

  read(bytes: AsyncIterable<Uint8Array>): FileOutput<FilePart> {
    return this.#convert('read', pieces(bytes));
  }

  #convert<Output>(kind: 'write' | 'read', input: AsyncIterable<unknown>): FileOutput<Output> {
    this.#input = input[Symbol.asyncIterator]();
    this.#send({ kind });
    return {
      next: async () => {
        try {
          const value = (await this.#next()) as Output | undefined;
          if (value !== undefined) return { done: false, value };
        } catch (error) {
          this.#end();
          throw error;
        }
        this.#end();
        return { done: true, value: undefined };
      },
      return: async () => this.#end(),
    };
  }

  #next(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure.error);
      if (this.#ended) return resolve(undefined);
      this.#resolve = resolve;
      this.#reject = reject;
      this.#send({ kind: 'next' });
      this.#watchdog.wake();
    });
  }

  /** Ends the worker at once; a pending request for output finds the end. */
  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#watchdog.stop();
    this.#worker.terminate();
    this.#settle(undefined);
    // Its errors are those of an input that is not needed any more.
    this.#input?.return?.().catch(() => undefined);
  }

  /** Ignores a late READY of the start. */
  #receive(reply: FileReply): void {
    if (reply.kind === 'pull') void this.#supply();
    else if (reply.kind === 'pong') this.#pong();
    else if (reply.kind === 'failure') this.#fail(fromWire(reply.error));
    else if (reply.kind === 'output') this.#settle(reply.value);
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

  #settle(value: unknown): void {
    this.#resolve?.(value);
    this.#resolve = this.#reject = undefined;
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#reject?.(this.#failure.error);
    this.#resolve = this.#reject = undefined;
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

function failure(code: WorkerErrorCode, what: string): WorkerError {
  return new WorkerError(
    code,
    `The worker that writes or reads the file ${what}. Nothing was changed; try again.`,
  );
}
