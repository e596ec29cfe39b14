import type { SlowQueryEvent } from '../../api/events.ts';
import type { HandleSettings } from '../../api/options/collection-options.ts';
import { takePlatformBy } from '../../codec/capture.ts';
import { toPlatformValue } from '../../codec/platform-values.ts';
import { loadFailed, nameCollection } from '../../errors/errors.ts';
import type { ChannelObserver, DatabaseSettings } from '../../protocol/database-settings.ts';
import type { ClientEvent } from '../../protocol/event-protocol.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { CallOrder } from '../connection/call-order.ts';
import { ClientChannel } from '../connection/client-channel.ts';
import { EvictionWatch } from '../connection/eviction-watch.ts';
import type { Connect } from '../connection/leadership.ts';
import { Inspection, logHandle } from '../inspection/inspection.ts';
import { withCallerFrames } from '../sending/call-arguments.ts';
import { HandleChannel } from '../sending/handle-channel.ts';
import { INSPECTION } from '../sending/observed-call.ts';
import { SharedDocuments } from '../sending/shared-documents.ts';
import { CommonCalls } from './common-calls.ts';
import { DocumentCalls } from './document-calls.ts';
import type { ExtendedHandle } from './extend-calls.ts';
import type { ImportPath } from './file-calls.ts';
import { HandleMigration } from './handle-migration.ts';
import { exportedBytes } from './load-file-calls.ts';
import type { PartnerOf } from './relation-tree.ts';

/** Runs the calls of a client. Its code loads with the first collection. */
export class Runtime {
  readonly channel: ClientChannel;
  readonly [INSPECTION] = new Inspection();
  /** By collection, the newest handle whose schema or steps a file may have to pass. */
  readonly #passed = new Map<string, OpenedHandle>();
  readonly #opened: OpenedApp[] = [];
  /** The next to look at. */
  #look = 0;

  constructor(settings: DatabaseSettings, connect: Connect, events: RuntimeObserver) {
    takePlatformBy(toPlatformValue);
    const { slow_query_ms } = settings;
    const observed: Connect = async (given) => {
      const loading = import('./slow-queries.ts').catch((error: unknown) => {
        console.warn('cairndb: the code of slow_query_ms did not load.', error);
      });
      const access = await connect(given);
      const code = await loading;
      // Calls that wait for the engine to start are not measured: they are not slow by themselves.
      code?.watchSlowQueries(this[INSPECTION], slow_query_ms as number, (detail) =>
        events.event({ type: 'slow_query', detail }),
      );
      return access;
    };
    const isObserved = slow_query_ms !== undefined;
    const eviction = new EvictionWatch(settings.name, (error) => {
      const storage_evicted = () => (eviction.isEvicted ? { storage_evicted: true } : {});
      this.channel.show('eviction', storage_evicted);
      events.event({ type: 'error', detail: { collection: undefined, error } });
    });
    this.channel = new ClientChannel(settings, isObserved ? observed : connect, {
      isClosing: events.isClosing,
      event(event) {
        eviction.take(event);
        events.event(event);
      },
      state: (state) => {
        events.state(state);
        if (state === 'open') void eviction.opened(this.channel.link?.replayer);
      },
    });
  }

  /** The error of a rejected call, with the names of its collection and its caller. */
  rejection(error: unknown, collection: string): unknown {
    return withCallerFrames(nameCollection(error, collection));
  }

  /**
   * Loads the code of all schemas. @returns what a file passes through: that of the newest handle
   * which has any.
   */
  async importPaths(): Promise<(collection: string) => ImportPath | undefined> {
    await Promise.all(Array.from(this.#passed.values(), ({ code }) => code?.loading));
    return (collection) => this.#passed.get(collection)?.calls;
  }

  /** Opens a collection. */
  open<Calls extends CommonCalls>(
    { schema: given, migrate: steps = {}, relations, ...settings }: HandleSettings,
    order: CallOrder,
    collection: object,
    partnerOf: PartnerOf,
  ): HandleCalls<Calls> {
    const isKeyValue = settings.type === 'KEY_VALUE_BASED';
    const calls: CommonCalls = isKeyValue
      ? new CommonCalls(settings, order)
      : new DocumentCalls(settings, order);
    const inspection = this[INSPECTION];
    const shared = settings.shared_documents ? new SharedDocuments(settings) : undefined;
    this.#releaseCollected();
    const number = this.channel.newHandle(settings);
    const channel = new HandleChannel(this.channel, order, number, inspection, shared);
    const code =
      given || relations || isKeyValue || settings.indexes.some(({ special }) => special)
        ? new LateCode({ calls, channel, settings, schema: given, relations, partnerOf })
        : undefined;
    const handle = new HandleCalls(calls, channel, settings, code);
    if (settings.version > 1) {
      const loadSchema = async () => {
        await code?.loading;
        return calls.schema;
      };
      const parts = { channel, settings, steps, schema: loadSchema };
      calls.migration = new HandleMigration(parts, handle.opened);
    }
    if (given || calls.migration) this.#passed.set(settings.name, { calls, code });
    const opened = { collection, settings, handle };
    const forget = inspection.opened(opened);
    const release = () => {
      forget();
      this.channel.freeHandle(number);
    };
    this.#opened.push({ app: new WeakRef(collection), release });
    if (settings.detailed_debugger_logs && !inspection.noteLogged(settings.name))
      logHandle(inspection, opened);
    return handle as HandleCalls<Calls>;
  }

  /** Releases what some collected handles had; a registry would cost the back/forward cache. */
  #releaseCollected(): void {
    const opened = this.#opened;
    for (let looks = Math.min(LOOKS, opened.length); looks > 0; looks--) {
      this.#look %= opened.length;
      const { app, release } = opened[this.#look] as OpenedApp;
      if (app.deref()) this.#look++;
      else {
        opened[this.#look] = opened.at(-1) as OpenedApp;
        opened.pop();
        release();
      }
    }
  }
}

/** As many handles may be kept in vain as a third of those that are in use. */
const LOOKS = 4;

/** What the app has of a handle. */
interface OpenedApp {
  readonly app: WeakRef<object>;
  /** To be called once it is collected. */
  readonly release: () => void;
}

interface OpenedHandle {
  readonly calls: CommonCalls;
  readonly code: LateCode | undefined;
}

/** The events of the channel, and those of this thread. */
interface RuntimeObserver extends ChannelObserver {
  readonly event: (event: ClientEvent | SlowQueryEvent) => void;
}

/** The code of a handle's schema, relations or keys and values: most handles have no such. */
class LateCode {
  readonly given: ExtendedHandle;
  #loading: Promise<void> | undefined;
  #isLoaded = false;

  constructor(given: ExtendedHandle) {
    this.given = given;
  }

  /**
   * `undefined` once it is loaded. @throws {CairnError} `load_failed`; the next call tries again.
   */
  get loading(): Promise<void> | undefined {
    if (this.#isLoaded) return undefined;
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    const { extendCalls } = await import('./extend-calls.ts').catch(loadFailed);
    await extendCalls(this.given);
    this.#isLoaded = true;
  }
}

export class HandleCalls<Calls extends CommonCalls> {
  readonly code: LateCode | undefined;
  readonly settings: CollectionSettings;
  /** Not readonly: an observer replaces them. */
  calls: Calls;
  readonly channel: HandleChannel;
  /** Resolves once the collection is open, with the reply to `open`. */
  readonly opened: Promise<number>;

  constructor(calls: Calls, channel: HandleChannel, settings: CollectionSettings, code?: LateCode) {
    this.calls = calls;
    this.code = code;
    this.settings = settings;
    this.channel = channel;
    this.opened = this.channel.send({ op: 'open', settings });
  }

  /**
   * The handle, once its calls can run: they need their late code, and documents of their
   * version.
   */
  get loaded(): this | undefined {
    return this.code?.loading || this.calls.migration?.waiting ? undefined : this;
  }

  /**
   * Resolves with the handle when its calls can run. @throws {CairnError} `load_failed`,
   * `migration_failed` …
   */
  async load(): Promise<this> {
    await this.code?.loading;
    const migrated = this.calls.migration?.waiting;
    // It waits for an open collection, and so for an engine: if none is reached, the call rejects.
    if (migrated) await this.channel.client.open();
    await migrated;
    return this;
  }

  /** The bytes of a file that the engine exports. */
  exported(cursor: number): Promise<ReadableStream<Uint8Array>> {
    return exportedBytes(this.channel, cursor);
  }
}
