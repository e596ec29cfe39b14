import type { CairnError } from '../../errors/cairn-error.ts';
import { dropped, typeMismatch } from '../collection-errors.ts';
import type { HostedCollection } from '../collections/hosted-collection.ts';
import type { OpenCollections } from '../collections/open-collections.ts';
import type { IndexDeclaration } from '../documents/index-declarations.ts';
import type { Request } from '../protocol/requests.ts';
import type { CollectionSettings } from '../protocol/settings.ts';

/** A handle of the client. */
export interface Handle {
  readonly settings: CollectionSettings;
  readonly collection: HostedCollection;
  /** The indexes it declares; `undefined` where it cannot use the collection. */
  readonly declaration: IndexDeclaration | undefined;
  /** Why it cannot use the collection: that is of another type. */
  readonly error: CairnError | undefined;
}

/** The open handles of a session, by the numbers that its client gave them. */
export class SessionHandles {
  readonly #collections: OpenCollections;
  /** Whether an index that only the session's handles declare goes as they close. */
  readonly #dropsIndexes: boolean;
  readonly #handles = new Map<number, Handle>();

  constructor(collections: OpenCollections, dropsIndexes: boolean) {
    this.#collections = collections;
    this.#dropsIndexes = dropsIndexes;
  }

  get(number: number): Handle | undefined {
    return this.#handles.get(number);
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
    const handle = this.#handles.get(number);
    if (!handle) throw dropped();
    const { failed, isGone } = handle.collection.availability;
    const isClosed = handle.error || (failed && !isGone);
    // Storage may open it now, or the collection of another type may have been dropped meanwhile.
    return usable(isClosed ? this.open({ ...handle, handle: number }) : handle);
  }

  /** Opens a handle, unless the same is open: a request that opens it may wait for the recovery meanwhile. */
  open({ handle: number, settings }: Pick<Request<'open'>, 'handle' | 'settings'>): Handle {
    const before = this.#handles.get(number);
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
    this.#handles.set(number, handle);
    if (before) this.#close(before);
    return handle;
  }

  closeAll(): void {
    for (const handle of this.#handles.values()) this.#close(handle);
    this.#handles.clear();
  }

  #close({ collection, declaration }: Handle): void {
    if (declaration) collection.retract(declaration, this.#dropsIndexes);
  }
}

function usable(handle: Handle): Handle {
  if (handle.error) throw handle.error;
  return handle;
}
