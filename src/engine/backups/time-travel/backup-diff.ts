import type { Snapshot } from '../../../backup/snapshot.ts';
import type { Body } from '../../../codec/body.ts';
import { bodySize } from '../../../codec/size.ts';
import type { ChangedPart, ChangedRecord, RecordSide } from '../../../protocol/backup-protocol.ts';
import { otherVersion } from '../../../protocol/collection-errors.ts';
import type { Request } from '../../../protocol/requests.ts';
import type { SegmentLog } from '../../../storage/log/segment-log.ts';
import { readStamps, type Segment, type SegmentBodies } from '../../../storage/segments/segment.ts';
import type { Stamps } from '../../../storage/segments/stored-record.ts';
import type { CollectionContext } from '../../collection-context.ts';
import type { CollectionBackups } from '../collection-backups.ts';
import type { ExportLease } from '../exports.ts';
import { backupDamage, checkSnapshot } from '../restore.ts';

/** Segments whose bodies are in memory at once: about 6 MB. */
const SEGMENTS_AT_ONCE = 64;

const RECORDS_AT_ONCE = 1024;

/** Characters of bodies in a part, so that taking it in never blocks the page for long. */
const PART_SIZE = 1024 * 1024;

interface OpenDiff {
  readonly parts: AsyncGenerator<ChangedPart, void>;
  /** Of what is compared. */
  readonly lease: ExportLease;
}

/**
 * Compares a backup with another, or with what the collection holds now, which is saved first. Both
 * are pinned until the lease is released. docs/decisions/043-time-travel.md has the figures.
 *
 * @throws {BackupError} `backup_unknown`; {CollectionError} `schema_newer`, `schema_older`
 */
export async function openDiff(
  context: CollectionContext,
  backups: CollectionBackups,
  { from, to, version }: Request<'diffBackups'>,
): Promise<OpenDiff> {
  const find = (name: string) => findReadable(context, backups, name, version);
  const before = await find(from);
  const leases = [backups.hold(before.segments)];
  const release = () => {
    for (const one of leases) one.release();
  };
  try {
    const after = to === undefined ? await backups.freeze() : await find(to);
    const isNow = 'lease' in after;
    const lease = isNow ? after.lease : backups.hold(after.segments);
    leases.push(lease);
    const known = new Set(before.segments);
    const explain: Explain = (numbers, error) => {
      if (numbers.every((number) => known.has(number))) throw backupDamage(before, error);
      throw isNow ? error : backupDamage(after, error);
    };
    const { log } = context.records;
    const moved = await findMoved(
      (numbers, take) => log.read(numbers, take).catch((error) => explain(numbers, error)),
      before.segments,
      lease.segments,
    );
    return {
      parts: changesAmong(log, moved, explain),
      lease: { release, why: (error) => lease.why(error) },
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** Throws the error of segments that cannot be read. */
type Explain = (numbers: readonly number[], error: unknown) => never;

/** The records whose stored values differ, in order. */
async function* changesAmong(
  log: SegmentLog,
  moved: readonly MovedRecord[],
  explain: Explain,
): AsyncGenerator<ChangedPart, void> {
  for (let from = 0; from < moved.length; ) {
    const numbers = new Set<number>();
    let to = from;
    for (; to < moved.length && to - from < RECORDS_AT_ONCE; to++) {
      const { before, after } = moved[to] as MovedRecord;
      if (before) numbers.add(before.segment);
      if (after) numbers.add(after.segment);
      if (numbers.size > SEGMENTS_AT_ONCE) break;
    }
    // One record has two segments at most.
    to = Math.max(to, from + 1);
    const loaded = await loadBodies(log, numbers, explain);
    let changes: ChangedRecord[] = [];
    let size = 0;
    for (; from < to; from++) {
      const { key, ...places } = moved[from] as MovedRecord;
      const before = sideOf(places.before, loaded);
      const after = sideOf(places.after, loaded);
      if (before && after && isSame(before, after)) continue;
      changes.push({ key, before, after });
      size += bodySize(before?.[2] ?? '') + bodySize(after?.[2] ?? '');
      if (size < PART_SIZE) continue;
      yield { kind: 'changes', changes };
      changes = [];
      size = 0;
    }
    if (changes.length > 0) yield { kind: 'changes', changes };
  }
}

async function loadBodies(
  { bodies }: SegmentLog,
  numbers: ReadonlySet<number>,
  explain: Explain,
): Promise<ReadonlyMap<number, SegmentBodies>> {
  const load = (number: number) =>
    bodies.load(number).catch((error: unknown) => explain([number], error));
  const loaded = await Promise.all(Array.from(numbers, load));
  return new Map(loaded.map((one) => [one.number, one]));
}

function sideOf(
  place: Place | undefined,
  loaded: ReadonlyMap<number, SegmentBodies>,
): RecordSide | undefined {
  if (!place) return undefined;
  const { segment, index, flags, stamps } = place;
  return [flags, stamps, loaded.get(segment)?.bodies[index] as Body];
}

/** Whether two versions are stored alike; the client compares what JSON does not keep. */
function isSame(
  [flags, stamps, body]: RecordSide,
  [otherFlags, others, other]: RecordSide,
): boolean {
  return flags === otherFlags && body === other && isSameStamps(stamps, others);
}

function isSameStamps(a: Stamps | undefined, b: Stamps | undefined): boolean {
  return a?.join() === b?.join();
}

/**
 * Finds a backup whose documents code of a version can read.
 *
 * @throws {BackupError} `backup_unknown`; {CollectionError} `schema_newer`, `schema_older`,
 *   `type_mismatch`; {StorageError} `format_newer`
 */
export async function findReadable(
  context: CollectionContext,
  { named }: CollectionBackups,
  name: string,
  own: number,
): Promise<Snapshot> {
  const snapshot = await named.find(name);
  checkSnapshot(context, snapshot);
  const { version = 1 } = snapshot;
  if (version === own) return snapshot;
  throw otherVersion(context.settings.name, version, own, `backup "${name}"`);
}

/** Reads segments by ascending number, without the bodies that are a value of their own. */
type ReadColumns = (
  numbers: readonly number[],
  take: (segment: Segment) => void,
) => Promise<unknown>;

interface Place {
  readonly segment: number;
  /** Index in it, -1 where it deletes the record. */
  readonly index: number;
  readonly rank: number;
  readonly flags: number;
  readonly stamps: Stamps | undefined;
}

/** A record that two lists of segments have in different places, or that one of them lacks. */
interface MovedRecord {
  readonly key: string;
  readonly before: Place | undefined;
  readonly after: Place | undefined;
}

type Side = 'before' | 'after';

type Suspect = { -readonly [K in keyof MovedRecord]: MovedRecord[K] };

/**
 * Finds the records that two lists of segments may not have in common, by rank. Segments never
 * change, so only those records can differ that a segment of one list alone puts or deletes. Of
 * these it keeps the place, of no other record anything.
 */
async function findMoved(
  read: ReadColumns,
  before: readonly number[],
  after: readonly number[],
): Promise<MovedRecord[]> {
  const inBefore = new Set(before);
  const inAfter = new Set(after);
  const common = before.filter((number) => inAfter.has(number));
  const suspects = new Map<string, Suspect>();
  const takeOwn = (side: Side) => (segment: Segment) => {
    for (const [key, place] of placesIn(segment)) {
      const known = suspects.get(key);
      if (known) known[side] = place;
      else suspects.set(key, { key, before: undefined, after: undefined, [side]: place });
    }
  };
  await read(
    before.filter((number) => !inAfter.has(number)),
    takeOwn('before'),
  );
  await read(
    after.filter((number) => !inBefore.has(number)),
    takeOwn('after'),
  );
  if (suspects.size > 0)
    await read(common, (segment) => {
      for (const [key, place] of placesIn(segment, suspects)) {
        const suspect = suspects.get(key) as Suspect;
        for (const side of ['before', 'after'] as const)
          if ((suspect[side]?.segment ?? 0) <= place.segment) suspect[side] = place;
      }
    });
  const moved: MovedRecord[] = [];
  for (const { key, ...sides } of suspects.values()) {
    const one = { key, before: existing(sides.before), after: existing(sides.after) };
    if (!isSamePlace(one.before, one.after)) moved.push(one);
  }
  return moved.sort((a, b) => rankOf(a) - rankOf(b) || (a.key < b.key ? -1 : 1));
}

/** What a segment says of keys, or of suspects alone. Deletes apply before its records. */
function* placesIn(
  { number, keys, ranks, flags, stamps, deletes }: Segment,
  suspects?: { has(key: string): boolean },
): Generator<readonly [key: string, place: Place]> {
  for (const key of deletes) {
    if (suspects && !suspects.has(key)) continue;
    yield [key, { segment: number, index: -1, rank: 0, flags: 0, stamps: undefined }];
  }
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    if (suspects && !suspects.has(key)) continue;
    const [rank, flag] = [ranks[index] as number, flags[index] as number];
    const place = { segment: number, index, rank, flags: flag };
    yield [key, { ...place, stamps: stamps && readStamps(stamps, index) }];
  }
}

function existing(place: Place | undefined): Place | undefined {
  return place && place.index >= 0 ? place : undefined;
}

function isSamePlace(a: Place | undefined, b: Place | undefined): boolean {
  return a?.segment === b?.segment && a?.index === b?.index;
}

function rankOf({ before, after }: MovedRecord): number {
  return (after ?? before)?.rank ?? 0;
}
