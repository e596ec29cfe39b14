import { DatabaseRequests } from '../../src/engine/backups/database-requests.ts';
import { tidyWhenLoaded } from '../../src/engine/engine.ts';
import { EngineEventHub } from '../../src/engine/engine-events.ts';
import type { HostedCollection } from '../../src/engine/hosted-collection.ts';
import { OpenCollections } from '../../src/engine/open-collections.ts';
import { SaveLinks, type SaveSchedule } from '../../src/engine/save-schedule.ts';
import type { CollectionSettings } from '../../src/protocol/settings.ts';
import type { StorageDriver, StorageOperation } from '../../src/storage/drivers/driver.ts';
import { memoryDriver } from '../../src/storage/drivers/memory-driver.ts';
import { FencedStorage } from '../../src/storage/fenced-storage.ts';
import { SegmentPool } from '../../src/storage/segments/log-bodies.ts';
import { StoredRecord } from '../../src/storage/segments/stored-record.ts';
import { FailingStorage } from '../contract/failing-storage.ts';
import { faultyDriver } from '../storage/faulty-driver.ts';
import { FakeClock, settled } from './fake-clock.ts';
import { settings } from './live-session.ts';
import { randomId } from './random-id.ts';

/**
 * The collections of an engine, without sessions: the test links their saves, as transactions do.
 */
export class LinkedCollections {
  readonly clock = new FakeClock();
  readonly collections: OpenCollections;
  readonly database: DatabaseRequests;
  readonly events: EngineEventHub;
  readonly #links = new SaveLinks<SaveSchedule>();

  private constructor(storage: FencedStorage) {
    const { clock } = this;
    this.events = new EngineEventHub(
      { storageKind: 'memory', clock },
      () => this.collections.backlog,
      () => [],
    );
    const environment = {
      ...({
        storage,
        clock,
        durability: 'relaxed',
        stolen: false,
        terminable: false,
        isRecovered: () => true,
      } as const),
      pool: new SegmentPool(storage),
      newId: randomId,
      events: this.events,
      links: this.#links,
      tidy: tidyWhenLoaded,
      snapshots: {},
    };
    this.collections = new OpenCollections(environment);
    this.database = new DatabaseRequests(environment, this.collections);
  }

  static async over(driver: StorageDriver): Promise<LinkedCollections> {
    const storage = await driver.open('joint', { damaged: () => undefined });
    const fence = { elapsed: () => 0, locked: true, taken: () => undefined };
    return new LinkedCollections(new FencedStorage(storage, fence));
  }

  /** A collection that is saved a second after a change, unless the settings say otherwise. */
  async open(name: string, given: Partial<CollectionSettings> = {}): Promise<HostedCollection> {
    const own = { name, save_early: false, save_directly_after: 1000 };
    const requested = { ...settings, ...own, ...given };
    const collection = this.collections.open(requested);
    await collection.execute({ op: 'open', handle: 1, settings: requested });
    return collection;
  }

  /** Puts a document into each collection, as one transaction. */
  change(id: string, ...changed: HostedCollection[]): void {
    for (const collection of changed) put(collection, id);
    this.#links.link(changed.map(({ saves }) => saves));
    this.collections.settle(changed);
  }

  /** Changes a collection alone. */
  changeAlone(id: string, collection: HostedCollection): void {
    put(collection, id);
    this.collections.settle([collection]);
  }

  /** Lets time pass. Storage may answer a turn later. */
  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await settled();
  }

  async export(): Promise<void> {
    const { cursor } = (await this.database.execute({ op: 'exportAll', handle: 1 })) as {
      cursor: number;
    };
    await this.database.execute({ op: 'exportEnd', handle: 1, cursor });
  }
}

/** At once, past the requests that wait: a transaction changes all its collections in one turn. */
function put({ records }: HostedCollection, id: string): void {
  records.put(new StoredRecord(id, records.takeRank(), 0, undefined, '{}'));
}

export async function createBackup(collection: HostedCollection): Promise<string> {
  const asked = Math.random();
  return (await collection.execute({ op: 'createBackup', handle: 1, asked })) as string;
}

/** The documents of a collection, by id. */
export function idsOf(collection: HostedCollection): string[] {
  return [...collection.records.keys()].sort();
}

/** For each batch with changes of collections, the sorted names of these collections. */
function savesIn(batches: readonly (readonly StorageOperation[])[]): string[] {
  return batches
    .map((batch) => {
      const names = batch.flatMap((one) =>
        one.type === 'put' && one.store === 'segments' ? [String(one.key[0])] : [],
      );
      return [...new Set(names)].sort().join('+');
    })
    .filter((names) => names !== '');
}

/** Two open collections, over storage that the test makes fail or wait. */
export async function openLinked() {
  const gate = new FailingStorage(memoryDriver());
  const driver = faultyDriver(gate);
  const db = await LinkedCollections.over(driver);
  return {
    ...{ gate, driver, db },
    a: await db.open('a'),
    b: await db.open('b'),
    /** The saves since the test began, each as the names of its collections. */
    saves: () => savesIn(driver.batches),
    /** Lets no write end until the returned function is called. */
    hang(): () => void {
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      gate.beforeWrite = () => released;
      return () => {
        gate.beforeWrite = async () => undefined;
        release();
      };
    },
    /** What another engine finds in storage, after a crash of this one. */
    async afterCrash(...names: string[]): Promise<Record<string, string[]>> {
      driver.crash();
      const later = await LinkedCollections.over(driver);
      const found: Record<string, string[]> = {};
      for (const name of names) found[name] = idsOf(await later.open(name));
      return found;
    },
  };
}

export type LinkedRig = Awaited<ReturnType<typeof openLinked>>;
