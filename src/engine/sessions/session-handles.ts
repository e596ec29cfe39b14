import type { CairnError } from '../../errors/errors.ts';
import { ended, typeMismatch } from '../../protocol/collection-errors.ts';
import { isEdit, isFed } from '../../protocol/operations.ts';
import type { IdempotencyKey, OperationName, Request } from '../../protocol/requests.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { IndexDeclaration } from '../documents/index-keeper.ts';
import type { Executor, GiveUp } from '../executor.ts';
import type { HostedCollection } from '../hosted-collection.ts';
import type { OpenCollections } from '../open-collections.ts';

/** A handle of the client. */
interface Handle {
  readonly settings: CollectionSettings;
  readonly collection: HostedCollection;
  /** The indexes it declares; `undefined` where it cannot use the collection. */
  readonly declaration: IndexDeclaration | undefined;
  /** Why it cannot use the collection: that is of another type. */
  readonly error: CairnError | undefined;
}

type Partner = Pick<Handle, 'collection'> & Partial<Pick<Handle, 'declaration'>>;

/** The open handles of a session, by the numbers that its client gave them. */
export class SessionHandles {
  readonly #collections: OpenCollections;
  /** Whether an index that only the session's handles declare goes as they close. */
  readonly #dropsIndexes: boolean;
  readonly all = new Map<number, Handle>();

  constructor(collections: OpenCollections, dropsIndexes: boolean) {
    this.#collections = collections;
    this.#dropsIndexes = dropsIndexes;
  }

  /**
   * The handle that a request addresses, opened by the request where it says so.
   *
   * @throws {CollectionError} `collection_dropped`, `type_mismatch`
   */
  of(request: Request): Handle {
    return request.op === 'open' ? usable(this.open(request)) : this.at(request.handle);
  }

  /** The handle with a number. @throws {CollectionError} `collection_dropped`, `type_mismatch` */
  at(number: number): Handle {
    const handle = this.all.get(number);
    if (!handle) throw ended();
    const { failed, isGone } = handle.collection.availability;
    const isClosed = handle.error || (failed && !isGone);
    // Storage may open it now, or the collection of another type may have been dropped meanwhile.
    return usable(isClosed ? this.open({ ...handle, handle: number }) : handle);
  }

  /**
   * Opens a handle, unless the same is open: a request that opens it may wait for the recovery
   * meanwhile.
   */
  open({ handle: number, settings }: Pick<Request<'open'>, 'handle' | 'settings'>): Handle {
    const before = this.all.get(number);
    const collection = this.#collections.open(settings);
    if (before?.settings === settings && before.collection === collection) return before;
    const { name, type } = settings;
    const isOther = collection.settings.type !== type;
    const handle: Handle = {
      settings,
      collection,
      declaration: isOther ? undefined : collection.declare(settings),
      error: isOther ? typeMismatch(name, collection.settings.type, type) : undefined,
    };
    this.all.set(number, handle);
    if (before) this.#close(before);
    return handle;
  }

  /** Leads a handle to its collection, if that was renamed. @returns what it waits for to know. */
  follow(handle: number): unknown {
    const { settings, collection } = this.all.get(handle) ?? {};
    if (!settings || !collection) return undefined;
    const { to: name, born } = collection.records.applied.endOf(settings.born) ?? {};
    return name
      ? this.open({ handle, settings: { ...settings, name, born } })
      : collection.queue.busy;
  }

  /**
   * A request, with the collections that it reads beside its own.
   *
   * @throws {CollectionError} of a partner that cannot be read.
   */
  withPartners<R extends Request>(request: R): R {
    const { related } = request;
    if (!related) return request;
    const contexts = new Map<number | string, object>();
    const waiting = related.partners.map((partner) => {
      const found = typeof partner === 'number' ? this.at(partner) : this.#named(partner);
      // The code of pipelines names the place of one that is missing.
      if (found) contexts.set(partner, found.collection.context);
      return found?.collection.readable(found.declaration);
    });
    const ahead = waiting.some(Boolean) ? Promise.all(waiting) : undefined;
    // Its own collection may refuse the request before.
    ahead?.catch(() => undefined);
    const importing = ahead && this.#collections.order.held;
    return { ...request, related: { ...related, contexts, ahead, importing } };
  }

  /** A collection that a pipeline names: by a handle of this client, or of any other. */
  #named(name: string): Partner | undefined {
    // An earlier one may have been dropped since, or have an older version.
    const last = [...this.all].findLast(([, { settings }]) => settings.name === name);
    if (last) return this.at(last[0]);
    const collection = this.#collections.named(name);
    return collection && { collection };
  }

  closeAll(): void {
    for (const handle of this.all.values()) this.#close(handle);
    this.all.clear();
  }

  #close({ collection, declaration }: Handle): void {
    if (declaration) collection.retract(declaration, this.#dropsIndexes);
  }
}

function usable(handle: Handle): Handle {
  if (handle.error) throw handle.error;
  return handle;
}

/**
 * The idempotency key of a change; `undefined` where it has none.
 *
 * @param next The sequence number of the next change by handle; advanced by each change.
 */
export function numberChange(
  request: Request,
  client: string,
  next: Map<number, number>,
): IdempotencyKey | undefined {
  const { handle } = request;
  if (request.op === 'commit') {
    for (const [changed, number] of request.numbers) next.set(changed, number + 1);
    return undefined;
  }
  const number = next.get(handle);
  if (number === undefined || !isEdit(request)) return undefined;
  next.set(handle, number + 1);
  return { client, handle, number };
}

/** Operations whose reply is the number of an export. */
const FILES: ReadonlySet<OperationName> = new Set(['exportBackup', 'diffBackups', 'exportAll']);

/**
 * The calls of a session that take several requests and have not come to their end. The client may
 * leave in between: an unended scan or export keeps segments in storage for as long as the engine
 * runs, an import keeps its collection locked, an `insertMany` its documents in memory.
 */
export class UnfinishedCalls {
  /** What ends each, by its cursor or call. */
  readonly #ends = new Map<number, () => void>();
  #ended = false;
  /** Whether the client has ended; it may also have left by this session alone. */
  #isGone = false;

  /** To be called with every part of an `insertMany`, once it is sent to its collection. */
  notePart(executor: Executor, request: Request): void {
    if (request.op !== 'insertPart' && request.op !== 'insertAbandon') return;
    const { op, call, handle } = request;
    if (op === 'insertPart' && !request.last)
      this.#add(executor, call, { op: 'insertAbandon', handle, call });
    else this.#ends.delete(call);
  }

  /** To be called with every request that is not answered at once. */
  begin(executor: Executor, request: Request, answered: Promise<unknown>): void {
    if (request.op !== 'importAll' && !isFed(request)) return;
    const { call, handle } = request;
    this.#add(executor, call, { op: 'abort', handle, call });
    const end = () => void this.#ends.delete(call);
    answered.then(end, end);
  }

  /** To be called with every request that was answered. */
  note(executor: Executor, request: Request, reply: unknown): void {
    const { op, handle, at } = request;
    if (at) this.#add(executor, at.reader, { op: 'viewEnd', handle, reader: at.reader });
    if (op === 'viewEnd') this.#ends.delete(request.reader);
    // An export goes on under one number.
    else if ('cursor' in request && !(op === 'exportNext' && reply !== undefined))
      this.#ends.delete(request.cursor);
    const { cursor } = (reply ?? {}) as { readonly cursor?: number | undefined };
    if (cursor !== undefined)
      this.#add(executor, cursor, { op: FILES.has(op) ? 'exportEnd' : 'scanEnd', handle, cursor });
  }

  /**
   * @param isGone Whether the client has ended: else it goes on with an `insertMany` in another
   *   session.
   */
  endAll(isGone: boolean): void {
    this.#ended = true;
    this.#isGone = isGone;
    for (const end of this.#ends.values()) end();
    this.#ends.clear();
  }

  #add(executor: Executor, number: number, request: GiveUp): void {
    const end = () => {
      if (this.#isGone || request.op !== 'insertAbandon') executor.giveUp(request);
    };
    // The session may have left while the request was executed.
    if (this.#ended) end();
    else this.#ends.set(number, end);
  }
}
