import type { CollectionSettings } from '../../engine/protocol/settings.ts';
import { signalIn } from '../options/option-checks.ts';
import type { SyncDocuments } from '../sync-documents.ts';
import type { SyncKeyValues } from '../sync-key-values.ts';
import { DocumentExchanges } from './document-exchanges.ts';
import type { Exchange } from './exchange.ts';
import { exportedFile } from './file-exchanges.ts';
import { KeyValueExchanges } from './key-value-exchanges.ts';
import type { Port } from './port.ts';
import { run } from './run.ts';
import type { SyncPort } from './run-now.ts';

/** Methods that a collection calls by name. */
export type CallName = Exclude<keyof DocumentExchanges<object> | keyof KeyValueExchanges, 'stream'>;

export type CallsClass = typeof Calls;

type Method = (...args: unknown[]) => Exchange<never>;

/** Runs the calls of a collection; loaded apart from it. */
export class Calls {
  readonly #exchanges: DocumentExchanges<object> | KeyValueExchanges;
  readonly #port: Port;
  readonly #name: string;

  constructor(settings: CollectionSettings, port: Port) {
    this.#exchanges =
      settings.type === 'DOCUMENT_BASED'
        ? new DocumentExchanges(settings)
        : new KeyValueExchanges();
    this.#port = port;
    this.#name = settings.name;
  }

  /** @param alone Whether no other call of the collection may come between its requests. */
  run<T>(name: CallName, args: readonly unknown[], options: unknown, alone: boolean): Promise<T> {
    const exchange = (this.#exchanges as unknown as Record<CallName, Method>)[name](
      ...args,
      options,
    );
    return run<T>(this.#port, exchange, signalIn(options), alone);
  }

  /** Goes over documents, chunk by chunk. */
  async *each<T>(params: unknown, options: unknown): AsyncGenerator<T, void, undefined> {
    const stream = (this.#exchanges as DocumentExchanges<object>).stream(params, options);
    try {
      for (;;) {
        const chunk = await run(this.#port, stream.next(), signalIn(options));
        if (!chunk) return;
        yield* chunk as T[];
      }
    } finally {
      await run(this.#port, stream.end());
    }
  }

  /** The bytes of a file that the engine has begun to write. */
  exported(cursor: number): ReadableStream<Uint8Array> {
    return exportedFile(this.#port, cursor);
  }

  /** Loads the methods without promises: most pages never need them. */
  async loadSync(): Promise<SyncDocuments<object> | SyncKeyValues> {
    const exchanges = this.#exchanges;
    const port = this.#port;
    const syncPort: SyncPort = {
      name: this.#name,
      turns: port.turns,
      sendNow: (request) => port.sendNow(request),
    };
    if (exchanges instanceof KeyValueExchanges) {
      const { SyncKeyValues } = await import('../sync-key-values.ts');
      return new SyncKeyValues(exchanges, syncPort);
    }
    const { SyncDocuments } = await import('../sync-documents.ts');
    return new SyncDocuments(exchanges, syncPort);
  }
}
