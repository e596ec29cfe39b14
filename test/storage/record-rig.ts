import { systemClock } from '../../src/async/clock.ts';
import { run } from '../../src/async/coroutine.ts';
import { Aborts, Pace } from '../../src/async/pace.ts';
import { decode, encode } from '../../src/codec/capture.ts';
import { RecordStore } from '../../src/engine/records/record-store.ts';
import { Scan } from '../../src/engine/records/scan.ts';
import { FoldedRecords } from '../../src/engine/records/table/folded-records.ts';
import { saveTogether } from '../../src/engine/save-schedule.ts';
import type { StorageDriver } from '../../src/storage/drivers/driver.ts';
import { FencedStorage, type FenceOptions } from '../../src/storage/fenced-storage.ts';
import { tidyLog } from '../../src/storage/log/compact-log.ts';
import { SegmentLog } from '../../src/storage/log/segment-log.ts';
import { SegmentPool } from '../../src/storage/segments/log-bodies.ts';
import { StoredRecord } from '../../src/storage/segments/stored-record.ts';

const stillClock = { now: () => 1000, elapsed: () => 1000, after: () => () => undefined };

/** Records over a segment log over a driver, without an engine. */
export class RecordRig {
  readonly log: SegmentLog;
  readonly records: RecordStore;

  constructor(log: SegmentLog, caching: boolean) {
    this.log = log;
    this.records = new RecordStore(log, stillClock, caching, {});
  }

  put(key: string, value: unknown): void {
    const order = this.records.get(key)?.rank ?? this.records.takeRank();
    const body = encode(value, 'value');
    this.records.put(new StoredRecord(key, order, 0, undefined, body));
  }

  delete(key: string): void {
    const record = this.records.get(key);
    if (record) this.records.delete(record);
  }

  async read(key: string): Promise<unknown> {
    const record = this.records.get(key);
    return record && decode(await run(this.records.bodies.of(record)));
  }

  /** Returns how many changes were saved. */
  async save(): Promise<number> {
    const [changes] = await saveTogether([this.records]);
    return changes as number;
  }

  /** Puts each key and saves it in a segment of its own. */
  async saveEach(entries: Record<string, unknown>): Promise<void> {
    for (const [key, value] of Object.entries(entries)) {
      this.put(key, value);
      await this.save();
    }
  }

  /** All keys with their values, in order. */
  async all(): Promise<[string, unknown][]> {
    const scan = new Scan(this.records, new Pace(systemClock, new Aborts()));
    const found = await run(scan.next(() => true));
    scan.end();
    return found
      .sort((a, b) => a.record.rank - b.record.rank)
      .map(({ record, body }) => [record.key, decode(body)]);
  }

  /** Collects garbage, and merges segments if that is due. */
  tidy(): Promise<boolean> {
    return tidyLog(this.log, (key) => this.records.saved(key));
  }

  /** Compacts until nothing is left to do. */
  async compact(): Promise<number> {
    let rounds = 0;
    while (await this.tidy()) rounds++;
    return rounds;
  }
}

export interface RigOptions {
  readonly caching?: boolean;
  readonly name?: string;
  /** The epoch of the leader that opens it, if there is no fence. */
  readonly epoch?: number;
  readonly fence?: FenceOptions;
}

/** Opens the stored records, as a reload does. */
export async function openRecords(
  driver: StorageDriver,
  { caching = false, name = 'log', epoch = 0, fence }: RigOptions = {},
): Promise<RecordRig> {
  const opened = await driver.open('db', { damaged: () => undefined });
  const fenced = fence && new FencedStorage(opened, fence);
  const storage = fenced ?? opened;
  const log = new SegmentLog({
    name,
    type: 'KEY_VALUE_BASED',
    storage,
    pool: new SegmentPool(storage),
    durability: 'relaxed',
    caching,
    columns: () => [],
    epoch: async () => fenced?.epoch() ?? epoch,
    referenced: async () => new Set(),
  });
  const rig = new RecordRig(log, caching);
  const folded = new FoldedRecords([], caching);
  await log.open({ take: (segment, hashes) => folded.fold(segment, hashes) });
  folded.finish(log.segments);
  rig.records.take(folded);
  return rig;
}

/** `kilobytes` of one letter. */
export function filler(kilobytes: number, letter = 'x'): string {
  return letter.repeat(kilobytes * 1024);
}
