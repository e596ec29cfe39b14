import type { CairnError } from '../../errors/errors.ts';
import type { PageLifecycle } from '../../platform/platform.ts';
import type { RecoveryRecord, UnloadWriter } from '../../protocol/recovery-records.ts';
import {
  type AcknowledgedChange,
  type OpenedHandles,
  type Request,
  UNACKNOWLEDGED,
} from '../../protocol/requests.ts';

/** The client of an {@link UnloadGuard}. */
export interface GuardedClient {
  /** Its name. */
  readonly client: string;
  /** The id of the database, once known. */
  readonly database: string | undefined;
  /** The route to the engine, while it is up: in this page or another, in this thread or not. */
  readonly route:
    | { readonly own: boolean; readonly inThread?: object | undefined; save(): Promise<void> }
    | undefined;
  /** The acknowledged changes that are not released yet. */
  readonly unsaved: {
    all(): readonly AcknowledgedChange[];
    /** Whether an unload journal has room for all of them. */
    readonly fitsJournal: boolean;
  };
  readonly requests: {
    readonly handles: { all(): OpenedHandles };
    /** The changes in flight, with their sequence numbers. */
    changes(): Iterable<readonly [request: Request, index: number, number: number]>;
  };
  /** Resolves when all acknowledged changes are saved, by this engine or the next. */
  save(): Promise<void>;
  /**
   * Leaves the engine and resigns.
   *
   * @param mayReturn Whether the page is frozen or in the back/forward cache, and may return: its
   *   engine ends at once then, without a save, and must not write. Otherwise a save that has begun
   *   may finish.
   */
  suspend(mayReturn: boolean): void;
  /** Looks for an engine again. */
  resume(): void;
}

/**
 * Keeps a client's acknowledged changes across the end of its page: each change is saved, or fits
 * into the unload journal, which the page writes when it is hidden or ends.
 * docs/decisions/017-tabs.md says what each browser loses.
 */
export class UnloadGuard {
  readonly #client: GuardedClient;
  readonly #writer: UnloadWriter;
  readonly #stopListening: readonly (() => void)[];
  readonly #page: PageLifecycle;
  /** The save that follows the running one; all that wait meanwhile share it. */
  #nextSave: Promise<void> | undefined;
  #saving: Promise<void> = Promise.resolve();
  #sealed: Promise<void> = Promise.resolve();
  /** The changes in the records of a page that lives on. */
  #written: ReadonlySet<AcknowledgedChange> | undefined;
  /** Counts the recovery records of this client. */
  #endings = 0;
  /** Whether the page is frozen or in the back/forward cache. */
  #suspended = false;
  /**
   * Why the client has ended, where its record has not all that was acknowledged or waits for that.
   */
  #lost: CairnError | undefined;

  constructor(client: GuardedClient, page: PageLifecycle, writer: UnloadWriter) {
    this.#client = client;
    this.#writer = writer;
    this.#page = page;
    this.#stopListening = [
      page.onHidden(() => this.#hide()),
      page.onLeft((mayReturn) => this.#leave(mayReturn)),
      page.onReturned(() => this.#return()),
    ];
  }

  /** Must be called when the engine is open. */
  begin(): void {
    this.#writer.begin?.();
  }

  /**
   * Must be called before changes are acknowledged to the caller.
   *
   * @returns resolves when the journal can have the changes, or when they are saved; `undefined`
   *   where the caller need not wait.
   */
  secure(changes: readonly AcknowledgedChange[]): Promise<void> | undefined {
    if (this.#lost) return Promise.reject(this.#lost);
    // A frozen page would block a deletion of the database.
    if (!this.#suspended) this.#writer.prepare();
    if (!this.#client.unsaved.fitsJournal) return this.#save();
    const { pending } = this.#writer;
    // A hidden page may end without an event. It saves at once, but does not wait: long imports run
    // in hidden pages.
    const saved = pending || this.#page.isHidden ? this.#save() : undefined;
    if (!pending) return this.#seal(changes);
    const sealed = pending.then(() => (this.#writer.pending ? saved : this.#seal(changes)));
    return Promise.race([saved, sealed]);
  }

  /** Must be called when changes are released. */
  noteReleased(): void {
    const written = this.#written;
    if (!written || this.#client.unsaved.all().some((change) => written.has(change))) return;
    this.#written = undefined;
    this.#writer.forget();
  }

  /**
   * Must be called before the client ends for a reason that only another client can do without,
   * such as a wrong key: writes what it leaves behind. A change that then is in no record is not
   * acknowledged any more.
   */
  giveUp(error: CairnError): void {
    const changes = withoutBegunCalls(this.#client.unsaved.all());
    const isWritten = changes.length === 0 || this.#writer.write(this.#record(changes));
    if (!isWritten) this.#lost = error;
  }

  close(): void {
    this.#suspended = true;
    this.#writer.close();
    for (const stop of this.#stopListening) stop();
  }

  #seal(changes: readonly AcknowledgedChange[]): Promise<void> | undefined {
    const { seal } = this.#writer;
    if (!seal) return undefined;
    const complete = this.#withBegunParts(changes);
    if (complete.length === 0) return undefined;
    const sealing = seal(this.#recordOf(complete)).catch(() => this.#save());
    // Changes are acknowledged in their order.
    this.#sealed = Promise.all([this.#sealed, sealing]).then(() => undefined);
    return this.#sealed;
  }

  /**
   * The changes, with the earlier parts of an `insertMany` whose last part is among them. Its
   * caller waits for all of them, and most that have parts are too large for a journal: to seal
   * these would be in vain.
   */
  #withBegunParts(changes: readonly AcknowledgedChange[]): readonly AcknowledgedChange[] {
    if (!changes.some(({ request }) => request.op === 'insertPart')) return changes;
    const ended = new Set(changes.flatMap(({ request }) => callOf(request, true)));
    const others = new Set(changes.filter(({ request }) => request.op !== 'insertPart'));
    // In their order: it is that of a replay.
    return this.#client.unsaved
      .all()
      .filter(
        (change) =>
          others.has(change) || callOf(change.request, false).some((call) => ended.has(call)),
      );
  }

  /** One save at a time; changes acknowledged meanwhile go with the next. */
  #save(): Promise<void> {
    this.#nextSave ??= this.#saving.then(() => {
      this.#nextSave = undefined;
      this.#saving = this.#client.save().catch(() => {
        if (this.#lost) throw this.#lost;
      });
      return this.#saving;
    });
    // A hidden page does not wait for it.
    this.#nextSave.catch(() => undefined);
    return this.#nextSave;
  }

  /** Asks the present engine, which reports its failures. */
  #saveNow(): void {
    this.#client.route?.save().catch(() => undefined);
  }

  /** The page may end without a further event: Chromium sends none when it quits. */
  #hide(): void {
    const unsaved = this.#client.unsaved.all();
    if (unsaved.length > 0) {
      const record = this.#record(withoutBegunCalls(unsaved));
      // Synchronously: when Chromium quits, 2 to 15 ms remain on a busy machine.
      this.#writer.journal(record);
      // Before the save: in Firefox a record that waits for a save is lost with the page. A
      // follower's changes are safe in the leader's engine.
      if (this.#client.route?.own) this.#writer.store(record);
      this.#written = new Set([...(this.#written ?? []), ...record.changes]);
    }
    this.#saveNow();
  }

  /**
   * The page ends or is frozen: asynchronous work may never finish.
   *
   * @param mayReturn Whether it is frozen or in the back/forward cache: `#return` may follow.
   */
  #leave(mayReturn: boolean): void {
    if (this.#suspended) return;
    const changes = [...this.#client.unsaved.all()];
    // Not a commit: no engine has said that what it read is still true.
    for (const [request, , number] of this.#client.requests.changes())
      if (request.op !== 'commit') changes.push({ request, number, turn: UNACKNOWLEDGED });
    // The leader reads the recovery records as this page leaves. If it waits for a transaction of a
    // page in the back/forward cache, Chromium evicts that page.
    const prefersJournal = mayReturn && this.#client.route?.own === false;
    const isWritten =
      changes.length > 0 && this.#writer.write(this.#record(changes), prefersJournal);
    // A save in this thread may finish, unless another is running. An unfinished one would block
    // the next leader while the page is in the back/forward cache, and Chromium evicts the page for
    // that.
    if (this.#client.route?.inThread && !(mayReturn && isWritten)) this.#saveNow();
    this.#client.suspend(mayReturn);
    // A page that is frozen, or in the back/forward cache, would block a deletion of the database.
    if (mayReturn) this.#writer.close();
    // Last: if the browser ends this script midway, the second listener starts over.
    this.#suspended = true;
  }

  #return(): void {
    if (!this.#suspended) return;
    this.#suspended = false;
    this.#client.resume();
  }

  #record(changes: readonly AcknowledgedChange[]): RecoveryRecord {
    return { ...this.#recordOf(changes), ending: ++this.#endings };
  }

  #recordOf(changes: readonly AcknowledgedChange[]): RecoveryRecord {
    const { client, database, requests } = this.#client;
    const opened = requests.handles.all();
    return { client, ending: this.#endings, database, opened, changes };
  }
}

/** The call that a part belongs to, or that it ends. */
function callOf(request: Request, isLast: boolean): number[] {
  return request.op === 'insertPart' && (!isLast || request.last) ? [request.call] : [];
}

/** The changes without the parts of an unfinished `insertMany`, which continues. */
function withoutBegunCalls(changes: readonly AcknowledgedChange[]): AcknowledgedChange[] {
  const complete = new Set<number>();
  for (const { request } of changes)
    if (request.op === 'insertPart' && request.last) complete.add(request.call);
  return changes.filter(({ request }) => request.op !== 'insertPart' || complete.has(request.call));
}
