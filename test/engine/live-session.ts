import { Engine } from '../../src/engine/engine.ts';
import type { HostedCollection } from '../../src/engine/hosted-collection.ts';
import type { Session } from '../../src/engine/sessions/session.ts';
import type { LiveSpec, LiveUpdate } from '../../src/protocol/live-protocol.ts';
import type { Request } from '../../src/protocol/requests.ts';
import type { CollectionSettings } from '../../src/protocol/settings.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { FakeClock } from './fake-clock.ts';
import { randomId } from './random-id.ts';

const none = { at: false, timestamp: false };

export const settings: CollectionSettings = {
  name: 'things',
  type: 'DOCUMENT_BASED',
  shared_documents: false,
  id_length: 8,
  created: none,
  updated: none,
  archived: none,
  unarchived: none,
  save_timeout: 1,
  save_early: true,
  save_directly_after: 5,
  cache_retention_time: 10,
  backup_retention_time: 3,
  caching: true,
  auto_create_backup: false,
  detailed_debugger_logs: false,
  activate_drop_method: true,
  indexes: [],
  version: 1,
  expire_after: undefined,
};

type WithoutHandle<R> = R extends unknown ? Omit<R, 'handle'> : never;

/** A session of an engine with one collection; the test sends its requests and reads its news. */
export class LiveSession {
  readonly clock: FakeClock;
  /** The events of live queries, by the number of the query. */
  readonly news: [live: number, news: LiveUpdate][] = [];
  readonly engine: Engine;
  readonly session: Session;
  readonly collection: HostedCollection;
  /** Another client, for changes: it never waits for the news of this one. */
  readonly #writer: Session;

  constructor(engine: Engine, collection: HostedCollection, clock: FakeClock) {
    this.clock = clock;
    this.engine = engine;
    this.collection = collection;
    this.session = engine.join((event) => {
      if (event.type === 'live') this.news.push([event.detail.live, event.detail.news]);
    });
    this.#writer = engine.join(() => undefined, 'writer');
  }

  static async open(given: Partial<CollectionSettings> = {}): Promise<LiveSession> {
    const storage = await memoryDriver().open('live', { damaged: () => undefined });
    const clock = new FakeClock();
    const engine = new Engine({
      storage,
      storageKind: 'memory',
      durability: 'relaxed',
      clock,
      newId: randomId,
    });
    const requested = { ...settings, ...given };
    const { handles } = engine.join(() => undefined);
    const { collection } = handles.open({ handle: 1, settings: requested });
    const opened = new LiveSession(engine, collection, clock);
    await opened.ask({ op: 'open', settings: requested });
    return opened;
  }

  /**
   * Executes requests as one batch: by the reader if they concern live queries, else by the writer.
   */
  async ask(...requests: WithoutHandle<Request>[]): Promise<unknown[]> {
    const batch = requests.map((request) => ({ ...request, handle: 1 }) as Request);
    const { settings } = this.collection;
    const isOfReader = requests.some((request) => 'live' in request || request.op === 'open');
    const { values, failures } = await (isOfReader
      ? this.session.execute(batch)
      : this.#writer.execute([{ op: 'open', settings, handle: 1 }, ...batch]));
    if (!isOfReader) values.shift();
    for (const error of failures?.values() ?? []) throw error;
    return values;
  }

  live(live: number, spec: LiveSpec, throttle = 0): Promise<unknown> {
    return this.ask({ op: 'live', live, spec, throttle });
  }

  put(id: string, fields: object): Promise<unknown> {
    return this.ask({ op: 'upsert', id, body: JSON.stringify(fields) });
  }
}
