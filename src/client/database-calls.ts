import type { CollectionUsage } from '../backup/usage.ts';
import { CallOrder } from '../collection/calls/call-order.ts';
import { ask } from '../collection/calls/exchange.ts';
import type { FileSource, ImportOptions } from '../collection/calls/file-bytes.ts';
import { exportedFile, importFile } from '../collection/calls/file-exchanges.ts';
import type { CallPort } from '../collection/calls/port.ts';
import { run } from '../collection/calls/run.ts';
import { signalIn } from '../collection/options/option-checks.ts';
import { DATABASE } from '../engine/protocol/database-protocol.ts';
import type { Request } from '../engine/protocol/requests.ts';
import type { Link } from '../transport/channel/link.ts';
import type { StorageStatus, StorageUse } from './database-storage.ts';

export type DatabaseCall = 'exportAll' | 'importAll' | 'persist' | 'estimate' | 'status';

/** Calls about the whole database; loaded when one is made. */
export class DatabaseCalls {
  readonly #port: CallPort;
  /** What the storage calls itself. */
  readonly #kind: string | undefined;

  constructor(port: CallPort, kind: string | undefined) {
    this.#port = port;
    this.#kind = kind;
  }

  /** @param kind What the storage calls itself, once the link is open. */
  static async run(
    name: DatabaseCall,
    args: readonly unknown[],
    link: Link,
    kind: () => string | undefined,
  ): Promise<unknown> {
    await link.open();
    const calls = new DatabaseCalls(portTo(link), kind());
    return (calls[name] as (...given: unknown[]) => unknown).call(calls, ...args);
  }

  async exportAll(): Promise<ReadableStream<Uint8Array>> {
    const { cursor } = await run(this.#port, ask({ op: 'exportAll' }));
    return exportedFile(this.#port, cursor);
  }

  importAll(file: FileSource, options: ImportOptions | undefined): Promise<number> {
    const importing = importFile('importAll', file, options);
    return run(this.#port, importing, signalIn(options), true);
  }

  async persist(): Promise<boolean | 'unsupported'> {
    return (await storageManager()?.persist?.()) ?? 'unsupported';
  }

  async estimate(): Promise<StorageUse> {
    const [estimate, collections] = await Promise.all([
      storageManager()?.estimate?.(),
      run(this.#port, ask({ op: 'usage' })) as Promise<readonly CollectionUsage[]>,
    ]);
    const { usage = 'unsupported', quota = 'unsupported' } = estimate ?? {};
    return { usage, quota, collections };
  }

  async status(): Promise<StorageStatus> {
    if (this.#kind === 'memory') return 'memory';
    const persisted =
      this.#kind === 'indexeddb' ? await storageManager()?.persisted?.() : undefined;
    if (persisted === undefined) return 'unsupported';
    return persisted ? 'persistent' : 'best_effort';
  }
}

function portTo(link: Link): CallPort {
  return {
    turns: new CallOrder(),
    started: link.channel?.place.started,
    send: (request) => link.send({ ...request, handle: DATABASE } as Request),
    withdraw: (call, reason) => link.withdraw(call, reason),
  };
}

/** Missing in insecure contexts and in Node; its methods differ by browser and between pages and workers. */
function storageManager(): Partial<StorageManager> | undefined {
  return typeof navigator === 'undefined' ? undefined : navigator.storage;
}
