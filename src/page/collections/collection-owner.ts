import type { ClientStatus, EventName, Listener } from '../../api/events.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { Runtime } from '../calls/runtime.ts';
import type { CallOrder } from '../connection/call-order.ts';

/** The client of a collection, as its handles see it. */
export interface CollectionOwner {
  readonly name: string;
  readonly status: ClientStatus;
  /** The error of every new call; `undefined` while calls are accepted. */
  readonly refusal: Error | undefined;
  /** `undefined` until it is loaded. */
  readonly runtime: Runtime | undefined;
  /**
   * Whether constructing a collection loads the runtime; else the first call of the client does.
   */
  readonly opensEarly: boolean;
  /**
   * Opens a collection once the runtime is loaded, in the order of construction, if the app still
   * has it.
   */
  whenLoaded(collection: object): void;
  /** Loads the runtime. @throws {CairnError} `load_failed`; the next call tries again. */
  loadRuntime(): Promise<Runtime>;
  orderOf(name: string): CallOrder;
  /** Listens to an event of the client. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void;
  /** Notes an open collection: its type is known. */
  noteOpened(settings: CollectionSettings): void;
  /** Notes a dropped collection: its name is free. */
  noteDropped(name: string): void;
}
