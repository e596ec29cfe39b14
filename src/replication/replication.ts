import type { HandleChannel } from '../collection/calls/handle-channel.ts';
import { callSafely, checkListener } from '../collection/emitter.ts';
import type { ReplicationAccess } from '../collection/replication-access.ts';
import type { ReplicaReport, ReplicaState } from '../engine/protocol/replica-protocol.ts';
import { asCairnError } from '../errors/as-cairn-error.ts';
import { OptionError } from '../errors/option-error.ts';
import { ReplicationError } from '../errors/replication-error.ts';
import { type StateCodec, stateCodec } from './documents/states.ts';
import type { Environment } from './loop/environment.ts';
import { ReplicationLoop } from './loop/replication-loop.ts';
import type { ReplicationStatus, StatusReport } from './loop/replication-status.ts';
import { checkTimeout, type ReplicationSettings } from './replication-options.ts';
import { type Conflict, ConflictResolution } from './rounds/conflict-resolution.ts';
import { pull } from './rounds/pull.ts';
import { Push } from './rounds/push.ts';
import { RemoteCalls } from './rounds/remote-calls.ts';
import type { RoundContext } from './rounds/round-context.ts';

/** A document that the server refused. */
export interface RejectedDocument<T extends object = object> {
  readonly id: string;
  /** The local state; `undefined`: deleted. */
  readonly document: T | undefined;
  /** What the server said. */
  readonly reason: string;
}

/** The events of a replication. */
export interface ReplicationEvents<T extends object = object> {
  status: ReplicationStatus;
  /** Both sides had changed a document; `result` is what it is now. */
  conflict: Conflict<T>;
  rejected: { readonly id: string; readonly reason: string };
  pulled: { readonly documents: number };
  pushed: { readonly documents: number };
}

const EVENTS = ['status', 'conflict', 'rejected', 'pulled', 'pushed'];

/** Conflicts that are remembered. */
const MOST_CONFLICTS = 1000;

/** A page that does not replicate asks the one that does so often, while it is shown: a frozen one is replaced. */
const HEARTBEAT_MS = 15_000;

/** The replication of one collection with one server. Made by `replicate()`. */
export class Replication<T extends object = object> {
  readonly #access: ReplicationAccess;
  readonly #settings: ReplicationSettings;
  readonly #environment: Environment;
  readonly #codec: StateCodec;
  readonly #loop: ReplicationLoop;
  readonly #push = new Push();
  readonly #conflicts: Conflict<T>[] = [];
  readonly #listeners = new Set<{
    readonly name: string;
    readonly listener: (event: never) => void;
  }>();
  readonly #ends: (() => void)[] = [];
  /** Calls of {@link settled} that wait. */
  readonly #waiting = new Set<() => void>();
  readonly #opened: Promise<HandleChannel>;
  #report: ReplicaReport | undefined;
  /** Requests for a round that this page has answered. */
  #answered = 0;
  #isPaused = false;
  #stopped: Error | undefined;
  #replica = '';

  /** @internal */
  constructor(access: ReplicationAccess, settings: ReplicationSettings, environment: Environment) {
    this.#access = access;
    this.#settings = settings;
    this.#environment = environment;
    this.#codec = stateCodec(access.settings.type);
    this.#loop = new ReplicationLoop(
      {
        round: (enter, signal) => this.#round(enter, signal),
        watch: (signal) => this.#watch(signal),
        changed: () => this.#changed(),
      },
      environment,
      settings.live,
    );
    this.#opened = this.#open();
    this.#opened.catch((error: unknown) => this.#end(asCairnError(error)));
  }

  /** Where it stands now. */
  get status(): ReplicationStatus {
    const { pending = 0, rejected = 0 } = this.#report ?? {};
    const { state, lastSync, retryAt, error } = this.#loop;
    const told = this.#report?.report as StatusReport | undefined;
    const isElsewhere = state === 'elsewhere' && told !== undefined;
    const told_error =
      told?.error && new ReplicationError(told.error.code as never, told.error.message);
    return Object.freeze({
      state,
      ...{ pending, rejected },
      last_sync: dateOf(isElsewhere ? told.last_sync : lastSync),
      retry_at: dateOf(isElsewhere ? told.retry_at : retryAt),
      error: this.#stopped ?? (isElsewhere ? told_error : error),
    });
  }

  /** Listens to an event. @returns a function that removes the listener. */
  on<Name extends keyof ReplicationEvents>(
    name: Name,
    listener: (event: ReplicationEvents<T>[Name]) => void,
  ): () => void {
    if (!EVENTS.includes(name))
      throw new OptionError(
        'option_invalid',
        `There is no event "${name}", but ${EVENTS.join(', ')}.`,
        { place: 'event' },
      );
    checkListener(listener);
    const own = { name, listener };
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  /**
   * Resolves when all that was local at the call is on the server, and all that the server had then is here. Documents that
   * the server refuses do not count.
   *
   * @param options `timeout` in milliseconds; left out, it waits while the server cannot be reached.
   * @throws {ReplicationError} `settled_timeout`; `replication_stopped`; the error of the last round where no retry
   *   will mend it: `remote_unauthorized`, `remote_forbidden`, `answer_invalid`, `resolver_failed` …
   */
  async settled({ timeout }: { readonly timeout?: number } = {}): Promise<void> {
    checkTimeout(timeout);
    const channel = await this.#opened;
    if (this.#isPaused) throw stopped('It is paused: call resume() first.');
    const { asked } = await channel.send({ op: 'replicaReport', asks: true });
    let cancel: (() => void) | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const look = (): void => {
          const report = this.#report?.report as StatusReport | undefined;
          const { state, error } = this.status;
          if (this.#stopped) reject(this.#stopped);
          else if ((report?.answered ?? 0) >= asked) resolve();
          else if (error && (state === 'failed' || state === 'needs_auth')) reject(error);
        };
        if (timeout !== undefined)
          cancel = this.#environment.clock.after(timeout, () =>
            reject(
              new ReplicationError('settled_timeout', `Not settled within ${timeout} ms.`, {
                place: this.#access.settings.name,
                cause: this.status.error,
              }),
            ),
          );
        this.#waiting.add(look);
        look();
      });
    } finally {
      cancel?.();
    }
  }

  /** Stops for now: nothing is pulled or pushed. Changes are kept for later. */
  pause(): void {
    if (this.#stopped) return;
    this.#isPaused = true;
    this.#loop.halt('paused');
  }

  /** Goes on after {@link pause}, and tries again at once after a failure. */
  resume(): void {
    if (this.#stopped) return;
    this.#isPaused = false;
    this.#lead();
    this.#loop.wake();
  }

  /** The last 1,000 conflicts that this page has decided, newest last. */
  conflicts(): readonly Conflict<T>[] {
    return [...this.#conflicts];
  }

  /** The documents that the server refused. Each is sent again once it is changed. */
  async rejected(): Promise<RejectedDocument<T>[]> {
    const channel = await this.#opened;
    const rows = await channel.send({ op: 'replicaRejected' });
    return rows.map(({ id, state, reason }) => ({
      ...{ id, reason },
      document: state && (this.#codec.toDocument(id, state) as unknown as T),
    }));
  }

  /**
   * Gives up the local changes of a document: it becomes what the server had last. One that the server never had is
   * deleted.
   *
   * @returns whether there was a local change.
   */
  async revert(id: string): Promise<boolean> {
    const channel = await this.#opened;
    return channel.send({ op: 'replicaRevert', id });
  }

  /**
   * Ends the replication in this page. Documents stay; with `forget` everything known of the server is forgotten, so that
   * the next replication begins anew.
   */
  async stop({ forget = false }: { readonly forget?: boolean } = {}): Promise<void> {
    this.#end(stopped('It was stopped.'));
    const channel = await this.#opened.catch(() => undefined);
    if (forget) await channel?.send({ op: 'replicaEnd' });
  }

  async #open(): Promise<HandleChannel> {
    const { owner, settings } = this.#access;
    const channel = await this.#access.channel();
    await this.#begin(channel);
    const ends = [
      owner.on('replication', (report) => {
        if (report.collection === settings.name) this.#take(report);
      }),
      owner.on('status', () => this.#lead()),
      this.#environment.onReturn(() => this.#loop.wake()),
    ];
    this.#ends.push(...ends);
    if (this.#stopped) throw this.#stopped;
    this.#beat(channel);
    this.#lead();
    return channel;
  }

  async #begin(channel: HandleChannel): Promise<ReplicaState> {
    const state = await channel.send({ op: 'replicaOpen', remote: this.#settings.remote.id });
    this.#replica = state.replica;
    this.#take(await channel.send({ op: 'replicaReport' }));
    return state;
  }

  /** Replicates while this page leads. */
  #lead(): void {
    const { state, leader } = this.#access.owner.status;
    if (state === 'closed' || state === 'failed') this.#end(stopped('Its client is closed.'));
    if (this.#stopped || this.#isPaused) return;
    if (leader) this.#loop.start();
    else if (this.#loop.state !== 'elsewhere') this.#loop.halt('elsewhere');
  }

  /** Asks for the status now and then: that is how a leader that is frozen is noticed. */
  #beat(channel: HandleChannel): void {
    const { clock, isVisible } = this.#environment;
    const beat = () => {
      if (this.#stopped) return;
      if (isVisible() && this.#loop.state === 'elsewhere')
        // A client that has closed reports that itself.
        channel.send({ op: 'replicaReport' }).then(
          (report) => this.#take(report),
          () => undefined,
        );
      this.#beat(channel);
    };
    this.#ends.push(clock.after(HEARTBEAT_MS, beat, true));
  }

  async #round(enter: (state: 'pulling' | 'pushing') => void, signal: AbortSignal): Promise<void> {
    const channel = await this.#opened;
    const { direction, remote, resolve } = this.#settings;
    // Another engine may have taken over, or a backup been loaded.
    const { checkpoint } = await this.#begin(channel);
    const asked = this.#report?.asked ?? 0;
    const context: RoundContext = {
      collection: this.#access.settings.name,
      replica: this.#replica,
      remote: new RemoteCalls(remote, signal),
      codec: this.#codec,
      conflicts: new ConflictResolution(this.#codec, resolve),
      send: (request) => {
        signal.throwIfAborted();
        return channel.send(request) as never;
      },
      save: () => channel.send({ op: 'save' }),
      events: {
        pulled: (documents) => this.#emit('pulled', { documents }),
        pushed: (documents) => this.#emit('pushed', { documents }),
        rejected: (id, reason) => this.#emit('rejected', { id, reason }),
        caughtUp: () => this.#loop.caughtUp(),
      },
    };
    const tell = (conflicts: readonly Conflict[]) => this.#tell(conflicts as Conflict<T>[]);
    let from = checkpoint;
    for (let pushed = 1; pushed > 0; ) {
      pushed = 0;
      if (direction !== 'push') {
        enter('pulling');
        from = await pull(context, from, tell);
      }
      if (direction === 'pull') break;
      enter('pushing');
      // What was pushed comes back once: the checkpoint goes past it, so that it rings nobody later.
      pushed = await this.#push.run(context, tell);
      if (direction === 'push') break;
    }
    this.#answered = asked;
    if ((this.#report?.asked ?? 0) > asked) this.#loop.wake();
  }

  /** Resolves when the server may have something new. */
  #watch(signal: AbortSignal): Promise<void> | undefined {
    const { remote, direction } = this.#settings;
    if (!remote.watch || direction === 'push') return undefined;
    return this.#ring(remote.watch.bind(remote), signal);
  }

  async #ring(
    watch: NonNullable<ReplicationSettings['remote']['watch']>,
    signal: AbortSignal,
  ): Promise<void> {
    const channel = await this.#opened;
    const { checkpoint } = await channel.send({
      ...{ op: 'replicaOpen', remote: this.#settings.remote.id },
    });
    const after = checkpoint === undefined ? undefined : JSON.parse(checkpoint);
    for await (const _ of watch(after, { signal })) return;
  }

  #take(report: ReplicaReport): void {
    const before = this.#report;
    this.#report = report;
    const isNew = report.pending > (before?.pending ?? 0);
    if (isNew && this.#settings.direction !== 'pull') this.#loop.noteChange();
    if (report.asked > this.#answered && report.asked > (before?.asked ?? 0)) this.#loop.wake();
    this.#show();
  }

  /** Tells the other pages too. */
  #changed(): void {
    const { state, lastSync, retryAt, error } = this.#loop;
    if (state !== 'elsewhere' && !this.#stopped) {
      const report: StatusReport = {
        ...{ state, answered: this.#answered },
        last_sync: lastSync,
        retry_at: retryAt,
        error: error && { code: error.code, message: error.message },
      };
      // A channel that has closed has ended the replication.
      this.#opened
        .then((channel) => channel.send({ op: 'replicaReport', report }))
        .catch(() => undefined);
    }
    this.#show();
  }

  #show(): void {
    this.#emit('status', this.status);
    for (const look of this.#waiting) look();
  }

  #tell(conflicts: readonly Conflict<T>[]): void {
    for (const conflict of conflicts) {
      this.#conflicts.push(conflict);
      if (this.#conflicts.length > MOST_CONFLICTS) this.#conflicts.shift();
      this.#emit('conflict', conflict);
    }
  }

  #emit<Name extends keyof ReplicationEvents>(name: Name, event: ReplicationEvents<T>[Name]): void {
    for (const own of [...this.#listeners])
      if (own.name === name) callSafely(own.listener as (event: unknown) => void, event);
  }

  #end(why: Error): void {
    if (this.#stopped) return;
    this.#stopped = why;
    for (const end of this.#ends.splice(0)) end();
    this.#loop.halt('stopped');
    this.#show();
  }
}

function dateOf(instant: number | undefined): Date | undefined {
  return instant === undefined ? undefined : new Date(instant);
}

function stopped(why: string): ReplicationError {
  return new ReplicationError('replication_stopped', `The replication has ended. ${why}`);
}
