import type { Clock } from '../async/clock.ts';
import type { CairnError } from '../errors/errors.ts';
import type { Change, EngineEvent, EngineStatus } from '../protocol/event-protocol.ts';
import type { PartName } from '../protocol/parts.ts';
import type { Watermark } from '../storage/segments/watermarks.ts';

/** A session that gets the events of its engine. */
export interface EventReceiver {
  readonly client: string;
  /** Whether it wants the events of changes. */
  readonly watching: boolean;
  readonly emit: (event: EngineEvent) => void;
  /** Tells the client which of its changes are durable and need no replay. */
  tellReleased(watermarks: readonly Watermark[]): void;
  /** By the numbers that its client gave them. */
  readonly handles: {
    readonly all: Iterable<
      readonly [number, { readonly collection: { readonly availability: object } }]
    >;
  };
}

/** The part of the status that collections have. */
export type Backlog = Pick<EngineStatus, 'unsaved' | 'unsaved_since'>;

/** The storage of an engine, as its status has it. */
interface StorageInUse {
  readonly storageKind: string;
  readonly storageReason?: string | undefined;
  readonly isEncrypted?: boolean | undefined;
  /** What it has lost as a whole, found while it was opened. */
  readonly damage?: readonly CairnError[] | undefined;
}

/** The events of an engine, and its status, for all sessions. */
export class EngineEventHub {
  readonly #storage: StorageInUse & { readonly clock: Clock };
  readonly #backlog: () => Backlog;
  readonly #parts: () => readonly PartName[];
  readonly sessions = new Set<EventReceiver>();
  /** Counted as sessions come and go: the status is made after every batch. */
  #tabs = 0;
  /**
   * Changes of the batch by collection, to be sent at its end. Only kept while a session watches.
   */
  readonly #changes = new Map<string, Change[]>();
  #lastSave: Date | undefined;
  #lastError: CairnError | undefined;
  /** When it came. */
  #failedAt: number | undefined;
  /** What storage has lost as a whole. */
  readonly damage: readonly CairnError[];
  /** The status that was sent last, to send each once. */
  #sent: EngineStatus | undefined;

  /** @param parts Those that are loaded. */
  constructor(
    storage: StorageInUse & { readonly clock: Clock },
    backlog: () => Backlog,
    parts: () => readonly PartName[],
  ) {
    this.#storage = storage;
    this.#backlog = backlog;
    this.#parts = parts;
    this.damage = storage.damage ?? [];
    this.#lastError = this.damage[0];
  }

  add(session: EventReceiver): void {
    this.sessions.add(session);
    this.#countTabs();
  }

  /** @returns whether that was the last session of its client. */
  remove(session: EventReceiver): boolean {
    this.sessions.delete(session);
    this.#countTabs();
    return !Array.from(this.sessions).some(({ client }) => client === session.client);
  }

  emit(event: EngineEvent): void {
    for (const session of this.sessions)
      if (event.type !== 'change' || session.watching) session.emit(event);
  }

  get isWatched(): boolean {
    for (const { watching } of this.sessions) if (watching) return true;
    return false;
  }

  noteChange(collection: string, change: Change): void {
    const changes = this.#changes.get(collection);
    if (changes) changes.push(change);
    else if (this.isWatched) this.#changes.set(collection, [change]);
  }

  /** Must be called after a batch. */
  sendChanges(): void {
    for (const [collection, changes] of this.#changes)
      this.emit({ type: 'change', detail: { collection, changes } });
    this.#changes.clear();
    this.sendStatus();
  }

  noteSave(collection: string, changes: number): void {
    const at = new Date(this.#storage.clock.now());
    this.#lastSave = at;
    // What could not be stored may be unsaved still; and no save brings back what storage has lost.
    if (!(Number(this.#backlog().unsaved_since) <= (this.#failedAt as number)))
      this.#lastError = this.damage[0];
    // Before the event: its listeners see what is unsaved now.
    this.sendStatus();
    if (changes > 0) this.emit({ type: 'save', detail: { collection, changes, at } });
  }

  reportError(error: CairnError, collection?: string): void {
    this.#lastError = error;
    this.#failedAt = this.#storage.clock.now();
    this.emit({ type: 'error', detail: { collection, error } });
    this.sendStatus();
  }

  /** These changes are durable: clients need not replay them. */
  release(watermarks: readonly Watermark[]): void {
    for (const session of this.sessions) session.tellReleased(watermarks);
  }

  get status(): EngineStatus {
    return {
      storage: this.#storage.storageKind,
      storage_reason: this.#storage.storageReason,
      encrypted: this.#storage.isEncrypted === true,
      tabs: this.#tabs,
      ...this.#backlog(),
      last_save: this.#lastSave,
      last_error: this.#lastError,
      parts: this.#parts(),
    };
  }

  #countTabs(): void {
    // The name of a client begins with that of its page.
    this.#tabs = new Set(Array.from(this.sessions, ({ client }) => client.split('.', 1)[0])).size;
    this.sendStatus();
  }

  /** Sends the status where it differs from the last. */
  sendStatus(): void {
    const { status } = this;
    if (isSame(status, this.#sent)) return;
    this.#sent = status;
    this.emit({ type: 'status', detail: status });
  }
}

/** What never changes is not compared; what changes with most batches comes first. */
function isSame(status: EngineStatus, sent: EngineStatus | undefined): boolean {
  return (
    status.unsaved === sent?.unsaved &&
    status.tabs === sent.tabs &&
    status.unsaved_since?.getTime() === sent.unsaved_since?.getTime() &&
    status.last_save === sent.last_save &&
    status.last_error === sent.last_error &&
    status.parts === sent.parts
  );
}
