import type { StorageStatus, StorageUse } from '../../api/options/client-options.ts';
import { checkOptions, name, signalIn } from '../../api/options/option-checks.ts';
import { parseTransactionOptions, type TransactionOptions } from '../../api/transaction-options.ts';
import type { CollectionInfo, CollectionUsage } from '../../backup/usage.ts';
import { loadFailed, OptionError, ValueError } from '../../errors/errors.ts';
import { DATABASE } from '../../protocol/requests.ts';
import type { FileSource, ImportOptions } from '../calls/file-bytes.ts';
import { exportedBytes, loadFileCalls } from '../calls/load-file-calls.ts';
import type { Runtime } from '../calls/runtime.ts';
import type { CollectionOwner } from '../collections/collection-owner.ts';
import { CallOrder } from '../connection/call-order.ts';
import { HandleChannel } from '../sending/handle-channel.ts';
import type { Sender } from '../sending/sender.ts';
import { runTransaction } from '../transactions/run-transaction.ts';
import { scopeOf } from '../transactions/transaction-scope.ts';
import type { Transaction } from '../transactions/transaction-types.ts';
import { askStorage } from './quota-watch.ts';

/** Calls about the whole database; their code loads with the first of them. */
export class DatabaseCalls {
  readonly #runtime: Runtime;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  async transaction<T>(
    owner: CollectionOwner,
    run: (tx: Transaction) => T | Promise<T>,
    options: TransactionOptions | undefined,
  ): Promise<T> {
    if (typeof run !== 'function')
      throw new ValueError('value_unsupported', 'transaction takes a function.', { place: 'run' });
    const runtime = this.#runtime;
    return runTransaction(
      runtime.channel,
      (transaction) => run(scopeOf(owner, runtime, transaction)),
      parseTransactionOptions(options),
    );
  }

  async exportAll(): Promise<ReadableStream<Uint8Array>> {
    const channel = this.#channel;
    const { cursor } = await channel.send({ op: 'exportAll' });
    return exportedBytes(channel, cursor);
  }

  async importAll(file: FileSource, options: ImportOptions | undefined): Promise<number> {
    const [pathOf, { importFile }] = await Promise.all([
      this.#runtime.importPaths(),
      loadFileCalls(),
    ]);
    const start = (sender: Sender) => importFile(sender, 'importAll', file, options, pathOf);
    return this.#channel.run(start, true, signalIn(options));
  }

  collections(): Promise<readonly CollectionInfo[]> {
    return this.#channel.send({ op: 'collections' });
  }

  async renameCollection(owner: CollectionOwner, from: string, to: string): Promise<void> {
    checkOptions({ from, to }, { from: name, to: name }, 'renameCollection(from, to)');
    const names = { from: from.toWellFormed(), to: to.toWellFormed() };
    if (names.from === names.to)
      throw new OptionError('option_invalid', `Collection "${from}" has that name already.`, {
        place: 'to',
      });
    await this.#channel.send({ op: 'rename', ...names, once: true });
    owner.noteDropped(names.from);
  }

  async destroy(options: unknown): Promise<void> {
    // As `Drop` has one: who asks for a backup must not lose everything.
    if ((options as { backup?: unknown } | undefined)?.backup)
      throw new OptionError(
        'option_unknown',
        'destroy() keeps no backup: export one by exportAll() before. Nothing was deleted.',
        { place: 'backup' },
      );
    const { destroyDatabase } = await import('../connection/destroy-database.ts').catch(loadFailed);
    return this.#runtime.channel.destroy(destroyDatabase);
  }

  get #channel(): HandleChannel {
    return new HandleChannel(this.#runtime.channel, new CallOrder(), DATABASE);
  }

  async persist(): Promise<boolean | 'unsupported'> {
    return (await askStorage('persist')) ?? 'unsupported';
  }

  async estimate(): Promise<StorageUse> {
    const [estimate, collections] = await Promise.all([
      askStorage('estimate'),
      this.#channel.send({ op: 'usage' }) satisfies Promise<readonly CollectionUsage[]>,
    ]);
    const { usage = 'unsupported', quota = 'unsupported' } = estimate ?? {};
    return { usage, quota, collections };
  }

  /** @param kind Kind of the storage, as in `status.storage`. */
  async status(kind: string | undefined): Promise<StorageStatus> {
    if (kind === 'memory') return 'memory';
    if (kind === 'files') return 'persistent';
    const persisted =
      kind === 'indexeddb' || kind === 'opfs' ? await askStorage('persisted') : undefined;
    if (persisted === undefined) return 'unsupported';
    return persisted ? 'persistent' : 'best_effort';
  }
}
