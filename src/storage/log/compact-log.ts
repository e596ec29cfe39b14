import type { Body } from '../../codec/body.ts';
import { segmentLost } from '../segments/lost-data.ts';
import {
  cutSegments,
  type Segment,
  type SegmentContent,
  type SegmentSizes,
  type WholeSegment,
} from '../segments/segment.ts';
import type { StoredRecord } from '../segments/stored-record.ts';
import { joined, type LogChange, type LogState } from './log-writes.ts';
import type { SegmentLog } from './segment-log.ts';

/** Returns the latest saved version of a key. */
type Saved = (key: string) => StoredRecord | undefined;

/**
 * Deletes orphans that no backup references, then merges segments if that is due. Nothing else may
 * be written meanwhile, and no reader may remember segments.
 *
 * @returns whether there may be more to do.
 */
export async function tidyLog(log: SegmentLog, saved: Saved): Promise<boolean> {
  await log.remove(await garbageOf(log.state));
  return compactLog(log, saved);
}

/** Where data is damaged nothing is garbage: which segments are live is not known. */
async function garbageOf({ live, orphans, referenced }: LogState): Promise<readonly number[]> {
  const { numbers } = orphans;
  const kept = numbers.size > 0 && live.isKnown && (await referenced());
  if (!kept) return [];
  // They come back when their backup is deleted.
  orphans.forget([...numbers].filter((number) => kept.has(number)));
  return [...numbers];
}

/**
 * Merges segments when too many are small or mostly dead. Nothing else may be written meanwhile. A
 * segment with a damaged document stays as it is from then on, so that the document is not lost
 * without a word.
 *
 * @returns whether anything was merged.
 * @throws {StorageError} `data_damaged`, once for each such segment.
 */
async function compactLog(log: SegmentLog, saved: Saved): Promise<boolean> {
  const plan = log.mergeable;
  if (plan.length === 0) return false;
  const numbers = new Set(plan.map(({ number }) => number));
  const oldestLeft = [...log.segments.keys()].find((number) => !numbers.has(number));
  const merged = await loadWhole(log, [...numbers]);
  for (const one of merged) {
    const state = log.segments.get(one.segment.number);
    if (!state || !hasDamage(one, saved)) continue;
    state.isDamaged = true;
    throw segmentLost(log.name, state.number, 'has damaged documents and is not merged');
  }
  const oldest = oldestLeft ?? Number.POSITIVE_INFINITY;
  const contents = mergeSegments(merged, oldest, saved, log.sizes);
  await log.commit([log.prepare(compacting(log.state, numbers, contents))]);
  return true;
}

/** Segments with their encoded documents: kept since they were written, or read. */
async function loadWhole(log: SegmentLog, numbers: readonly number[]): Promise<WholeSegment[]> {
  const read = await readWhole(
    log,
    numbers.filter((number) => !log.bodies.written(number)),
  );
  return numbers.map((number) => log.bodies.written(number) ?? (read.get(number) as WholeSegment));
}

async function readWhole(
  log: SegmentLog,
  numbers: readonly number[],
): Promise<Map<number, WholeSegment>> {
  const read = new Map<number, WholeSegment>();
  if (numbers.length === 0) return read;
  const loading = Promise.all(numbers.map((number) => log.bodies.load(number)));
  // Awaited after the segments; until then a failure must not count as unhandled.
  loading.catch(() => undefined);
  const segments: Segment[] = [];
  await log.read(numbers, (segment) => segments.push(segment));
  for (const [index, { bodies }] of (await loading).entries()) {
    const segment = segments[index] as Segment;
    read.set(segment.number, { segment, bodies });
  }
  return read;
}

/**
 * Replaces live segments by new ones. The replaced ones stay in storage as orphans: a reader may
 * remember them, and an undo makes them live again.
 */
function compacting(
  { live, bodies, orphans, writer }: LogState,
  merged: ReadonlySet<number>,
  contents: readonly SegmentContent[],
): LogChange {
  const left = [...live.states.keys()].filter((number) => !merged.has(number));
  const written = [...writer.build(contents, live.newest)];
  const numbers = written.map(({ segment }) => segment.number);
  const before = live.putBack();
  const manifest = live.makeManifest([...left, ...numbers], writer.last);
  return {
    operations: joined([writer.puts(written), live.put(manifest)]),
    undo: () => [...writer.deletions(numbers), ...before],
    stored() {
      live.stored = manifest;
      for (const number of merged) {
        live.states.delete(number);
        bodies.merged(number);
      }
      orphans.add(merged);
      live.append(written);
      bodies.noteWritten(written);
    },
  };
}

/**
 * Merges segments into the contents of new ones, by rank.
 *
 * Live records may always move to a higher number: each is the latest saved version of its key.
 * None may be damaged.
 *
 * @param oldestLeft The lowest number that is not merged: a delete must stay while an older segment
 *   may have its key.
 */
function mergeSegments(
  merged: readonly WholeSegment[],
  oldestLeft: number,
  saved: Saved,
  sizes: SegmentSizes,
): SegmentContent[] {
  const live = new Map<StoredRecord, Body>();
  const deletes = new Set<string>();
  for (const { segment, bodies } of merged) {
    for (const [record, index] of liveRecords(segment, saved))
      live.set(record, bodies[index] as Body);
    if (oldestLeft > segment.number) continue;
    for (const key of segment.deletes) if (!saved(key)) deletes.add(key);
  }
  const records = [...live.keys()].sort((a, b) => a.rank - b.rank);
  return [...cutSegments(deletes, records, (record) => live.get(record) as Body, sizes)];
}

/** Whether the encoded document of a live record is damaged. */
function hasDamage({ segment, bodies }: WholeSegment, saved: Saved): boolean {
  if (!bodies.includes(undefined)) return false;
  for (const [, index] of liveRecords(segment, saved)) if (bodies[index] === undefined) return true;
  return false;
}

function* liveRecords(
  { number, keys }: Segment,
  saved: Saved,
): Generator<[record: StoredRecord, index: number]> {
  for (const [index, key] of keys.entries()) {
    const record = saved(key);
    if (record?.segment === number && record.index === index) yield [record, index];
  }
}
