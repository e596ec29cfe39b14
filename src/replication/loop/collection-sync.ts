import { asCairnError, type CairnError, CollectionError, mayPass } from '../../errors/errors.ts';
import type { ReplicationAccess } from '../../page/collections/replication-access.ts';
import type { HandleChannel } from '../../page/sending/handle-channel.ts';
import type { OpenReplica, ReplicaReport, ScopeState } from '../../protocol/replica-protocol.ts';
import { LateFiles } from '../files/late-files.ts';
import type { FileProgress } from '../protocol/files.ts';
import type { ReplicationScope } from '../protocol/remote.ts';
import { optionConflict, type ReplicationSettings, scopeAsk } from '../replication-options.ts';
import { ConflictResolution } from '../rounds/conflict-resolution.ts';
import { pull, pullScopes } from '../rounds/pull.ts';
import { PushRound } from '../rounds/push.ts';
import { RemoteCalls, remoteWatch } from '../rounds/remote-calls.ts';
import type { RoundContext, RoundEvents } from '../rounds/round-context.ts';
import { type StateCodec, stateCodec } from '../states.ts';
import type { Environment } from './platform-environment.ts';
import { ReplicationLoop, shownStatus } from './replication-loop.ts';
import {
  type Answered,
  countOf,
  type ReplicationStatus,
  type StatusReport,
  settle,
  stopped,
} from './replication-status.ts';

/**
 * A page that does not replicate asks the one that does so often, while somebody looks or waits: a
 * frozen one is replaced, and the end of the collection is noticed.
 */
const HEARTBEAT_MS = 15_000;

/** Other pages hear of a round that lasts longer, and of one that is like the last one later. */
const PASSING_MS = 50;
const ALIKE_MS = 1000;

/** Errors of a round in an opening that is over: it began with what the last one knew. */
const OVER: ReadonlySet<string> = new Set(['checkpoint_moved', 'not_replicated']);

type Enter = (state: 'pulling' | 'pushing') => void;

/** What the user of a replication gets. */
interface SyncEvents extends Omit<RoundEvents, 'caughtUp'> {
  status(status: ReplicationStatus): void;
  fileProgress(progress: FileProgress): void;
}

/**
 * The replication of one collection, in one page: leads where the page leads, else shows what the
 * leader reports.
 */
export class CollectionSync {
  readonly codec: StateCodec;
  /** The collection's channel, once the replication is open. */
  readonly opened: Promise<HandleChannel>;
  readonly #access: ReplicationAccess;
  readonly #settings: ReplicationSettings;
  readonly #environment: Environment;
  readonly #events: SyncEvents;
  readonly #loop: ReplicationLoop;
  readonly #push = new PushRound();
  readonly #files: LateFiles | undefined;
  readonly #ends: (() => void)[] = [];
  #cancelBeat: (() => void) | undefined;
  /** Called when the status has changed. */
  readonly #watchers = new Set<(isBeat?: boolean) => void>();
  #report: ReplicaReport | undefined;
  /** Requests for a round that this page has answered. */
  #answered: Answered = { opening: '', count: 0 };
  /** The same, with those of the round under way, and with those that it has answered. */
  #tried = this.#answered;
  #answering = this.#answered;
  /** Where the last round has pulled to. */
  #checkpoint: string | undefined;
  #pulled: readonly ScopeState[] | undefined;
  /** The opening in which that was, until a round fails. */
  #opening: string | undefined;
  /** What the other pages were told last, and when, by the clock's `elapsed`. */
  #told = '';
  #toldAt = 0;
  #cancelTell: (() => void) | undefined;
  readonly #watchRemote: ReturnType<typeof remoteWatch>;
  #isPaused = false;
  #stopped: CairnError | undefined;
  #replica = '';

  constructor(
    access: ReplicationAccess,
    settings: ReplicationSettings,
    environment: Environment,
    events: SyncEvents,
  ) {
    this.#access = access;
    this.#settings = settings;
    this.#environment = environment;
    this.#events = events;
    this.#watchRemote = remoteWatch(settings, environment.clock);
    this.codec = stateCodec(access.settings.type);
    const { files, collection } = settings;
    if (files && collection)
      this.#files = new LateFiles(access, settings, environment, {
        due: () => this.#loop.wake(),
        progress: (progress) => events.fileProgress(progress),
        changed: () => this.#show(),
      });
    this.#loop = new ReplicationLoop(
      {
        round: (enter, signal) => this.#round(enter, signal),
        // Without a scope there is nothing to hear of.
        watch: (signal) =>
          this.#checkpoint === undefined
            ? undefined
            : this.#watchRemote(this.#checkpoint, this.#pulled, signal),
        isBehind: () => this.#push.isBehind,
        isPending: () => settings.direction !== 'pull' && this.status.pending > 0,
        isWatched: () => environment.isVisible() || access.owner.status.tabs > 1,
        changed: () => this.#changed(),
      },
      environment,
      settings.live,
    );
    this.opened = this.#open();
    this.opened.catch((error: unknown) => this.end(asCairnError(error)));
  }

  /** Why it has ended; `undefined` while it has not. */
  get stopped(): CairnError | undefined {
    return this.#stopped;
  }

  get status(): ReplicationStatus {
    const status = shownStatus(this.#loop, this.#report, this.#stopped);
    const files = this.#files?.status;
    return files ? Object.freeze({ ...status, files }) : status;
  }

  /** What the page that replicates says of itself. */
  get reported(): StatusReport | undefined {
    const { state, lastSync, retryAt, error, polls } = this.#loop;
    if (state === 'elsewhere') return this.#report?.report as StatusReport | undefined;
    return {
      ...{ state, answered: this.#answered, tried: this.#tried, polls },
      last_sync: lastSync,
      retry_at: retryAt,
      error: error && { code: error.code, message: error.message },
    };
  }

  get report(): ReplicaReport | undefined {
    return this.#report;
  }

  /** Requests a round. */
  async ask(): Promise<ReplicaReport> {
    const channel = await this.opened;
    if (this.#stopped) throw this.#stopped;
    if (!this.#replica) await this.#begin(channel, null);
    const report = await channel.send({ op: 'replicaReport', asks: true });
    this.#take(report);
    return report;
  }

  /** Calls back when the status has changed, and now and then. @returns what ends that. */
  watch(look: (isBeat?: boolean) => void): () => void {
    this.#watchers.add(look);
    return () => void this.#watchers.delete(look);
  }

  async settled(timeout: number | undefined): Promise<void> {
    if (this.#isPaused) throw stopped('Call resume().');
    return settle(this, this.#environment.clock, timeout);
  }

  pause(): void {
    if (this.#stopped) return;
    this.#isPaused = true;
    this.#loop.halt('paused');
  }

  resume(): void {
    if (this.#stopped) return;
    this.#isPaused = false;
    this.#loop.wake();
    this.#lead();
  }

  end(why: CairnError): void {
    if (this.#stopped) return;
    const leads = this.#loop.state !== 'elsewhere';
    this.#stopped = why;
    for (const end of this.#ends.splice(0)) end();
    this.#cancelBeat?.();
    this.#cancelTell?.();
    this.#files?.end(why);
    this.#loop.halt('stopped');
    if (leads) this.#tell(this.reported as StatusReport);
    this.#show();
  }

  /**
   * Forgets what is known of the server, whether or not this replication was opened. It must have
   * ended.
   */
  async forget(): Promise<void> {
    await this.opened.catch(() => undefined);
    const channel = await this.#access.channel();
    await channel.send({ op: 'replicaEnd' }).catch((error: unknown) => {
      if (asCairnError(error).code !== 'not_replicated') throw error;
    });
  }

  async #open(): Promise<HandleChannel> {
    const { owner, settings } = this.#access;
    const channel = await this.#access.channel();
    if (this.#stopped) throw this.#stopped;
    await this.#begin(channel, null).catch((error: unknown) => {
      // As offline: rounds try again, such as once the disk has room.
      if (!mayPass(error)) throw error;
    });
    if (this.#stopped) throw this.#stopped;
    this.#ends.push(
      owner.on('replication', (report) => {
        if (report.collection === settings.name) this.#take(report);
      }),
      owner.on('status', () => this.#lead()),
      this.#environment.onReturn(() => this.#loop.wake()),
    );
    this.#beat(channel);
    this.#lead();
    return channel;
  }

  /**
   * Adds a scope, or removes it, and asks for a round.
   *
   * @param how `isHeld`: by a component. It is beside the same one that was added otherwise.
   */
  async setScope(
    given: ReplicationScope,
    keep: unknown,
    { ends = false, isHeld = false } = {},
  ): Promise<void> {
    const { scope, until } = scopeAsk({ scope: given, keep }, this.#environment.clock.now());
    if (!this.#settings.scopes) throw optionConflict('scopes', 'Give replicate() scopes.');
    const channel = await this.opened;
    await this.#begin(channel, null);
    // Another text of the same JSON, so another scope for the engine.
    const name = isHeld ? `${scope} ` : scope;
    await channel.send({ op: 'replicaScope', scope: name, until, ends });
    await this.ask();
  }

  /** As {@link SyncedFiles.file}. */
  async file(id: string, path: string): Promise<Blob | undefined> {
    if (!this.#files) throw optionConflict('files', 'Give replicate() files.');
    await this.opened;
    return (await this.#files.open()).file(id, path);
  }

  async scopes(): Promise<OpenReplica['scopes']> {
    const { scopes } = await this.#begin(await this.opened, null);
    return this.#settings.scopes && scopes;
  }

  /** @param scopes `null`: as they are. */
  async #begin(
    channel: HandleChannel,
    scopes: readonly string[] | null | undefined,
  ): Promise<OpenReplica> {
    const { id: remote } = this.#settings.remote;
    const opening = channel.send({ op: 'replicaOpen', remote, scopes });
    // Together: an engine in a worker is asked once.
    const [state] = await Promise.all([opening, this.#refresh(channel)]);
    this.#replica = state.replica;
    return state;
  }

  async #refresh(channel: HandleChannel): Promise<void> {
    this.#take(await channel.send({ op: 'replicaReport' }));
  }

  /** Replicates while this page leads. */
  #lead(): void {
    const { state, leader } = this.#access.owner.status;
    if (state === 'closed' || state === 'failed') this.end(stopped('Its client is closed.'));
    if (this.#stopped || this.#isPaused) return;
    if (leader) this.#loop.start();
    else if (this.#loop.state !== 'elsewhere') this.#loop.halt('elsewhere');
  }

  /** Looks at the status now and then. */
  #beat(channel: HandleChannel): void {
    const { clock, isVisible } = this.#environment;
    const beat = () => {
      if (this.#stopped) return;
      if ((isVisible() || this.#watchers.size > 0) && this.#loop.state === 'elsewhere')
        (this.#replica ? this.#refresh(channel) : this.#begin(channel, null)).catch(this.#endBy);
      this.#show(true);
      this.#beat(channel);
    };
    this.#cancelBeat = clock.after(HEARTBEAT_MS, beat, true);
  }

  async #round(enter: Enter, signal: AbortSignal): Promise<void> {
    const known = this.#opening;
    this.#opening = undefined;
    this.#tried = this.#asked;
    try {
      await this.#roundIn(known, enter, signal);
    } catch (error) {
      if (!known || !OVER.has(asCairnError(error).code)) throw error;
      await this.#roundIn(undefined, enter, signal);
    } finally {
      if (this.#isAsked(this.#tried)) this.#loop.wake();
    }
  }

  /** @param known The opening that is known from the last round: the engine need not be asked. */
  async #roundIn(known: string | undefined, enter: Enter, signal: AbortSignal): Promise<void> {
    const channel = await this.opened;
    const { direction, remote } = this.#settings;
    const { clock } = this.#environment;
    enter(direction === 'push' ? 'pushing' : 'pulling');
    // Another engine may have taken over, or a backup been loaded.
    const { scopes: own = remote.defaultScope && [remote.defaultScope] } = this.#settings;
    const given = own?.map((one) => JSON.stringify(one));
    // The time of scopes may be over.
    const isKnown = known !== undefined && !given && this.#report?.opening === known;
    const { checkpoint, opening, scopes, isNew } = isKnown
      ? { checkpoint: this.#checkpoint, opening: known, scopes: undefined, isNew: false }
      : await this.#begin(channel, given);
    const files = await this.#files?.open();
    const context: RoundContext = {
      replica: this.#replica,
      files,
      remote: new RemoteCalls(remote, signal, clock),
      clock,
      codec: this.codec,
      conflicts: new ConflictResolution(this.codec, this.#settings, clock, signal),
      send: (request) => {
        signal.throwIfAborted();
        return channel.send({ ...request, opening }) as never;
      },
      save: () => channel.send({ op: 'save' }),
      held: (ids) => this.#held(channel, ids),
      schema: channel.schema,
      pulls: direction !== 'push',
      pushes: direction !== 'pull',
      events: {
        ...this.#events,
        // pause() and resume() meanwhile have asked for another round.
        caughtUp: () => {
          files?.caughtUp();
          if (!signal.aborted) this.#loop.caughtUp();
        },
      },
    };
    let [from, parts, isFirst] = [checkpoint, scopes, isNew];
    for (;;) {
      if (!parts) this.#tried = this.#asked;
      const { pending = 0 } = this.#report ?? {};
      if (direction !== 'push') {
        enter('pulling');
        parts &&= await pullScopes(context, parts);
        from = parts ? parts[0]?.checkpoint : await pull(context, from, undefined, isFirst);
      }
      if (direction === 'pull') break;
      // Most rounds bring what others have changed. What changes here meanwhile asks for another.
      const isPushing = this.#report?.pending !== 0;
      if (isPushing) enter('pushing');
      else context.events.caughtUp();
      // What was pushed comes back once: the checkpoint goes past it, so that it rings nobody
      // later.
      const pushed = isPushing ? await this.#push.run(context) : this.#push.skip();
      const isSending = await files?.send(clock, signal);
      const { reach } = this.#push;
      const goesOn = isSending || reach !== undefined || (direction !== 'push' && pushed > 0);
      // Those that ask do not wait for what has changed since: that may go on without end.
      if (reach !== undefined && reach >= pending) {
        this.#answered = this.#tried;
        this.#changed();
      }
      isFirst = false; // A kept page may be older than what was pushed.
      if (!goesOn) break;
      if (!parts) continue;
      this.#tried = this.#asked;
      // A client may wait for a scope that was added since.
      ({ scopes: parts } = await this.#begin(channel, null));
    }
    this.#checkpoint = from;
    this.#pulled = parts;
    this.#opening = opening;
    // Not part of the round: changes must not wait for them.
    this.#files?.fetchWanted();
    // Then a round follows by itself.
    if (this.#push.isBehind) return;
    this.#answering = this.#tried;
  }

  /** Those of some ids whose documents are here, or were deleted here and may come back. */
  async #held(channel: HandleChannel, ids: readonly string[]): Promise<readonly string[]> {
    if (this.#access.settings.type !== 'DOCUMENT_BASED') return ids;
    const found = await channel.send({ op: 'getMany', ids: [...ids] });
    const deleted = new Set<string>();
    const { pending = 0, rejected = 0 } = this.#report ?? {};
    if (pending + rejected > 0) {
      await channel.send({ op: 'save' });
      for (const refused of ['look', true] as const) {
        const limit = Number.POSITIVE_INFINITY;
        const { rows } = await channel.send({ op: 'replicaChanges', limit, refused });
        for (const { id, state } of rows) if (!state) deleted.add(id);
      }
    }
    return ids.filter((id, at) => found[at] || deleted.has(id));
  }

  #take(report: ReplicaReport): void {
    const before = this.#report;
    this.#report = report;
    const error = (report.report as StatusReport | undefined)?.error;
    // The engine itself tells of an end.
    this.#endBy(
      error &&
        new CollectionError(error.code as never, error.message, { place: report.collection }),
    );
    const isNew = report.pending > (before?.pending ?? 0);
    if (isNew && this.#settings.direction !== 'pull') {
      this.#loop.noteChange();
      this.#files?.now?.interrupt();
    }
    const known = before?.opening === report.opening ? before.asked : 0;
    // A round that is under way looks again as it ends.
    if (report.asked > known && this.#isAsked(this.#answered)) this.#loop.nudge();
    this.#show();
  }

  /** The requests for a round so far. */
  get #asked(): Answered {
    const { opening = '', asked: count = 0 } = this.#report ?? {};
    return { opening, count };
  }

  /** Whether a client asks for another round. */
  #isAsked(answered: Answered): boolean {
    const { opening, count } = this.#asked;
    return count > countOf(answered, opening);
  }

  /** Ends where the collection has; a client that has closed reports that itself. */
  readonly #endBy = (error: CairnError | undefined): void => {
    if (error && /_(dropped|renamed)$/.test(error.code)) this.end(error);
  };

  #changed(): void {
    // Who waits for a round finds the status that it has led to.
    if (this.#loop.state === 'idle') this.#answered = this.#answering;
    const { reported: report } = this;
    const { error } = this.#loop;
    this.#endBy(error);
    this.#cancelTell?.();
    if (report && this.#loop.state !== 'elsewhere' && !this.#stopped) this.#tell(report);
    this.#show();
  }

  /** Tells the other pages, at once where it is news that last: most rounds take milliseconds. */
  #tell(report: StatusReport): void {
    const { clock } = this.#environment;
    const { state, answered, error, retry_at, polls } = report;
    const news = JSON.stringify([state, answered, error, retry_at, polls]);
    const passes = state === 'pulling' || state === 'pushing';
    const since = clock.elapsed() - this.#toldAt;
    const wait = passes ? PASSING_MS : news === this.#told ? ALIKE_MS - since : 0;
    const send = () => {
      this.#told = news;
      this.#toldAt = clock.elapsed();
      // A channel that has closed has ended the replication.
      this.opened
        .then((channel) => channel.send({ op: 'replicaReport', report }))
        .catch(() => undefined);
    };
    if (wait > 0) this.#cancelTell = clock.after(wait, send, true);
    else send();
  }

  #show(isBeat?: boolean): void {
    this.#events.status(this.status);
    for (const look of [...this.#watchers]) look(isBeat);
  }
}
