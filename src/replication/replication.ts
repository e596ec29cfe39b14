import { Emitter } from '../async/emitter.ts';
import { type CairnError, loadFailed } from '../errors/errors.ts';
import type { ReplicationAccess } from '../page/collections/replication-access.ts';
import { CollectionSync } from './loop/collection-sync.ts';
import type { HoldScope } from './loop/held-scopes.ts';
import type { Environment } from './loop/platform-environment.ts';
import { type ReplicationStatus, stopped } from './loop/replication-status.ts';
import type { FileProgress } from './protocol/files.ts';
import type { ReplicationScope } from './protocol/remote.ts';
import { checkTimeout, type ReplicationSettings } from './replication-options.ts';
import type { Conflict } from './rounds/conflict-resolution.ts';

/** A document that the server refused. */
export interface RejectedDocument<T extends object = object> {
  readonly id: string;
  /** The local state; `undefined`: deleted. */
  readonly document: T | undefined;
  /** What the server said. */
  readonly reason: string;
}

/** The scopes of a replication; those that are added stay after a reload. */
export interface ReplicationScopes {
  /**
   * Adds a scope, or keeps it longer. Its documents are here after `settled()`.
   *
   * @param options `keep` in milliseconds, or such as `'7d'`: then it goes by itself.
   */
  add(
    scope: ReplicationScope,
    options?: { readonly keep?: number | string | undefined },
  ): Promise<void>;
  /** Removes a scope that was added. Documents that no other one has go, their changes first. */
  remove(scope: ReplicationScope): Promise<void>;
  list(): Promise<readonly ReplicationScope[]>;
}

/** The events of a replication. */
export interface ReplicationEvents<T extends object = object> {
  status: ReplicationStatus;
  /** Both sides had changed a document; `result` is what it is now. */
  conflict: Conflict<T>;
  rejected: { readonly id: string; readonly reason: string };
  /**
   * The schema of the collection refuses what the server has sent, or a merge has made. It is
   * stored all the same.
   */
  invalid: { readonly id: string; readonly error: CairnError };
  pulled: { readonly documents: number };
  pushed: { readonly documents: number };
  /** A part of a file was sent, or has come, in this page. */
  file_progress: FileProgress;
}

const EVENTS = [
  'status',
  'conflict',
  'rejected',
  'invalid',
  'pulled',
  'pushed',
  'file_progress',
] as const;

/** Conflicts that are remembered. */
const MOST_CONFLICTS = 1000;

/** The replication of one collection with one server. Made by `replicate()`. */
export class Replication<T extends object = object> {
  readonly #sync: CollectionSync;
  readonly #loadHold: () => Promise<HoldScope>;
  #holding: Promise<HoldScope> | undefined;
  readonly #conflicts: Conflict<T>[] = [];
  #shown: string | undefined;
  #shownError: Error | undefined;
  readonly #emitter = new Emitter<ReplicationEvents>(EVENTS);

  /** @internal */
  constructor(access: ReplicationAccess, settings: ReplicationSettings, environment: Environment) {
    this.#sync = new CollectionSync(access, settings, environment, {
      conflicts: (conflicts) => this.#tell(conflicts as Conflict<T>[]),
      status: (status) => this.#show(status),
      pulled: (documents) => this.#emitter.emit('pulled', { documents }),
      pushed: (documents) => this.#emitter.emit('pushed', { documents }),
      fileProgress: (progress) => this.#emitter.emit('file_progress', progress),
      invalid: (id, error) => this.#emitter.emit('invalid', { id, error }),
      rejected: (id, reason) => this.#emitter.emit('rejected', { id, reason }),
    });
    const place = JSON.stringify([access.owner.name, access.settings.name]);
    this.#loadHold = async () => {
      const { heldScopes } = await import('./loop/held-scopes.ts').catch(loadFailed);
      return heldScopes(this.#sync, place, environment.clock);
    };
  }

  /** @internal As {@link HoldScope}, for the hooks of frameworks. `load_failed` is told too. */
  hold(...[scope, failed]: Parameters<HoldScope>): () => void {
    this.#holding ??= this.#loadHold();
    const holding = this.#holding.then(
      (hold) => hold(scope, failed),
      (error) => {
        this.#holding = undefined;
        failed(error);
      },
    );
    return () => void holding.then((leave) => leave?.());
  }

  /**
   * Whether it has ended: by {@link stop}, or as its collection was dropped or its client closed.
   */
  get isStopped(): boolean {
    return this.#sync.stopped !== undefined;
  }

  /** Where it stands now. */
  get status(): ReplicationStatus {
    return this.#sync.status;
  }

  /** Listens to an event. @returns a function that removes the listener. */
  on<Name extends keyof ReplicationEvents>(
    name: Name,
    listener: (event: ReplicationEvents<T>[Name]) => void,
  ): () => void {
    return this.#emitter.on(name, listener as (event: ReplicationEvents[Name]) => void);
  }

  /**
   * Resolves when all that was local at the call is on the server, and all that the server had then
   * is here. Documents that the server refuses do not count.
   *
   * @param options `timeout` in milliseconds; left out, it waits while the server cannot be
   *   reached.
   * @throws {ReplicationError} `settled_timeout`; `replication_stopped`, also where no page has
   *   replicated for half a minute; the error of the last round where no retry will mend it:
   *   `remote_unauthorized`, `remote_forbidden`, `answer_invalid`, `resolver_failed` …;
   *   {CollectionError} `collection_dropped`, `collection_renamed`
   */
  async settled({ timeout }: { readonly timeout?: number | undefined } = {}): Promise<void> {
    checkTimeout(timeout);
    await this.#sync.settled(timeout);
  }

  /** Stops for now: nothing is pulled or pushed. Changes are kept for later. */
  pause(): void {
    this.#sync.pause();
  }

  /** Goes on after {@link pause}, and tries again at once after a failure. */
  resume(): void {
    this.#sync.resume();
  }

  /** The parts of the collection that replicate, where it has the option `scopes`. */
  get scopes(): ReplicationScopes {
    const sync = this.#sync;
    return {
      add: async (scope, { keep } = {}) => sync.setScope(scope, keep),
      remove: async (scope) => sync.setScope(scope, undefined, { ends: true }),
      list: async () => {
        const names = ((await sync.scopes()) ?? []).map(({ name }) => name.trim());
        return [...new Set(names)].map((name) => JSON.parse(name) as ReplicationScope);
      },
    };
  }

  /**
   * The file at a path of a document, such as `photos.0`, where there is the option `files`. It is
   * loaded if it is not here; `undefined`: there is none.
   *
   * @throws {ReplicationError} `remote_offline`; `remote_refused` if the server does not give it;
   *   `file_damaged` if it is not what the document says.
   *
   * @example
   * ```ts
   * const photo = await sync.file(job._id, 'photos.0');
   * if (photo) image.src = URL.createObjectURL(photo);
   * ```
   */
  file(id: string, path: string): Promise<Blob | undefined> {
    return this.#sync.file(id, path);
  }

  /** The last 1,000 conflicts that this page has decided, newest last. */
  conflicts(): readonly Conflict<T>[] {
    return [...this.#conflicts];
  }

  /** The documents that the server refused. Each is sent again once it is changed. */
  async rejected(): Promise<RejectedDocument<T>[]> {
    const channel = await this.#sync.opened;
    const limit = Number.POSITIVE_INFINITY;
    const { rows } = await channel.send({ op: 'replicaChanges', limit, refused: true });
    return rows.map(({ id, state, refused = '' }) => ({
      ...{ id, reason: refused },
      document: state && (this.#sync.codec.toDocument(id, state) as unknown as T),
    }));
  }

  /**
   * Gives up the local changes of a document: it becomes what the server had last. One that the
   * server never had is deleted.
   *
   * @returns whether there was a local change.
   */
  async revert(id: string): Promise<boolean> {
    const channel = await this.#sync.opened;
    return channel.send({ op: 'replicaRevert', id });
  }

  /**
   * Ends the replication in this page. Documents stay; with `forget` everything known of the server
   * is forgotten, so that the next replication begins anew.
   */
  async stop({ forget = false }: { readonly forget?: boolean } = {}): Promise<void> {
    this.#sync.end(stopped('It was stopped.'));
    if (forget) await this.#sync.forget();
    else await this.#sync.opened.catch(() => undefined);
  }

  #show(status: ReplicationStatus): void {
    // Dates are compared as JSON, errors by identity.
    const shown = JSON.stringify(status);
    if (shown === this.#shown && status.error === this.#shownError) return;
    this.#shown = shown;
    this.#shownError = status.error;
    this.#emitter.emit('status', status);
  }

  #tell(conflicts: readonly Conflict<T>[]): void {
    for (const conflict of conflicts) {
      this.#conflicts.push(conflict);
      if (this.#conflicts.length > MOST_CONFLICTS) this.#conflicts.shift();
      this.#emitter.emit('conflict', conflict);
    }
  }
}
