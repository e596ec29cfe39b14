import { type Check, checkOptions, flag } from '../../api/options/option-checks.ts';
import { type Coroutine, wait } from '../../async/coroutine.ts';
import { BackupError, CollectionError, loadFailed } from '../../errors/errors.ts';
import type { BackupInfo, BackupRead, Verification } from '../../protocol/backup-protocol.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { CallOrder } from '../connection/call-order.ts';
import type { CollectionSchema } from '../sending/collection-schema.ts';
import { type HandleRequest, post, replyOf, request, type Sender } from '../sending/sender.ts';
import type { HandleMigration } from './handle-migration.ts';
import { loadFileCalls } from './load-file-calls.ts';
import type { ChangeSource } from './read-changes.ts';

const text: Check = { allowed: 'a string', test: (value) => typeof value === 'string' };

/** Longest label, in characters: every list of backups reads it, and a file has it on one line. */
const MAX_LABEL = 1000;

const label: Check = {
  allowed: `a string of at most ${MAX_LABEL} characters`,
  test: (value) => typeof value === 'string' && value.length <= MAX_LABEL,
};

/** The calls of both types of collection. */
export class CommonCalls {
  readonly type: CollectionSettings['type'];
  /** Set before the first call of a collection with a schema. */
  schema: CollectionSchema | undefined;
  /** Of a handle above version 1. */
  migration: HandleMigration | undefined;
  /** Which all handles of the client to this collection share. */
  protected readonly order: CallOrder;
  readonly #closed = new WeakSet<BackupRead>();

  constructor({ type }: Pick<CollectionSettings, 'type'>, order: CallOrder) {
    this.type = type;
    this.order = order;
  }

  *ready(sender: Sender): Coroutine<void> {
    yield* request(sender, { op: 'ready' });
  }

  *save(sender: Sender): Coroutine<void> {
    yield* request(sender, { op: 'save' });
  }

  *drop(sender: Sender, settings: CollectionSettings, options: unknown): Coroutine<true> {
    const { backup } = checkOptions(options ?? {}, { backup: flag }, 'options');
    if (!settings.activate_drop_method) throw dropDisabled(settings.name);
    return yield* request(sender, { op: 'drop', backup: backup as boolean, once: true });
  }

  *createBackup(sender: Sender, options: unknown): Coroutine<string> {
    const given = checkOptions(options ?? {}, { label }, 'options');
    return yield* request(sender, {
      op: 'createBackup',
      label: given.label as string | undefined,
      asked: Math.random(),
    });
  }

  *listBackups(sender: Sender): Coroutine<BackupInfo[]> {
    return yield* request(sender, { op: 'listBackups' });
  }

  *loadBackup(sender: Sender, given: unknown, version: number): Coroutine<true> {
    const name = checkName(given);
    const isLoaded = yield* request(sender, { op: 'loadBackup', name, version, once: true });
    if (!isLoaded && this.migration) yield* wait(this.migration.run(name));
    return true;
  }

  *deleteBackup(sender: Sender, given: unknown): Coroutine<true> {
    return yield* request(sender, { op: 'deleteBackup', name: checkName(given), once: true });
  }

  *exportBackup(sender: Sender, given: unknown): Coroutine<{ readonly cursor: number }> {
    return yield* request(sender, { op: 'exportBackup', name: checkName(given) });
  }

  *importBackup(sender: Sender, file: unknown, options: unknown): Coroutine<number> {
    const { importFile } = yield* wait(loadFileCalls());
    return yield* importFile(sender, 'importBackup', file, options, () => this);
  }

  /** Compares a backup with another, or with now. */
  *diff<C>(
    sender: Sender,
    source: ChangeSource,
    from: unknown,
    to: unknown,
  ): Coroutine<AsyncGenerator<C, void, undefined>> {
    const names = { from: checkName(from), to: to === undefined ? undefined : checkName(to) };
    const { version } = source.settings;
    const begun = post(sender, { op: 'diffBackups', ...names, version });
    const code = import('./read-changes.ts').catch(loadFailed);
    const { readFieldChanges: readChanges } = yield* wait(code);
    return readChanges<C>((yield* replyOf(begun)).cursor, source);
  }

  /** The sender of calls that read a backup. @throws {BackupError} `view_closed` */
  sendingTo(sender: Sender, at: BackupRead): Sender {
    checkName(at.backup);
    if (this.#closed.has(at)) throw viewClosed(at.backup);
    const send = ((ask: HandleRequest) => sender.send({ ...ask, at })) as Sender['send'];
    return { started: sender.started, isSync: false, send, pause: () => sender.pause() };
  }

  *endView(sender: Sender, at: BackupRead): Coroutine<void> {
    if (this.#closed.has(at)) return;
    this.#closed.add(at);
    yield* request(sender, { op: 'viewEnd', reader: at.reader });
  }

  *verify(sender: Sender): Coroutine<Verification> {
    return yield* request(sender, { op: 'verify' });
  }
}

function viewClosed(backup: string): BackupError {
  const message = `This view of backup "${backup}" was closed: call at() again.`;
  return new BackupError('view_closed', message, { place: backup });
}

export function checkName(name: unknown): string {
  const given = checkOptions({ name }, { name: { ...text, required: true } }, 'options');
  return given.name as string;
}

function dropDisabled(name: string): CollectionError {
  return new CollectionError(
    'drop_disabled',
    `Drop() of collection "${name}" needs activate_drop_method: true.`,
    { place: name },
  );
}
