import type { Body } from '../../codec/body.ts';
import { bodySize } from '../../codec/size.ts';
import type { SegmentLog } from '../../storage/log/segment-log.ts';
import type { SegmentBodies } from '../../storage/segments/segment.ts';
import type { Stamps } from '../../storage/segments/stored-record.ts';
import type { CollectionBackups } from '../backups/collection-backups.ts';
import { backupDamage } from '../backups/restore.ts';
import type { CollectionContext } from '../collections/collection-context.ts';
import type { ChangedPart, ChangedRecord, RecordSide } from '../protocol/backup-protocol.ts';
import type { Request } from '../protocol/requests.ts';
import { findReadable } from './find-readable.ts';
import { findMoved, type MovedRecord, type Place } from './moved-records.ts';

/** Segments whose bodies are in memory at once: about 6 MB. */
const SEGMENTS_AT_ONCE = 64;

/** Records compared at once. */
const RECORDS_AT_ONCE = 1024;

/** Characters of bodies in a part, so that taking it in never blocks the page for long. */
const PART_SIZE = 1024 * 1024;

interface OpenDiff {
  readonly parts: AsyncGenerator<ChangedPart, void>;
  /** Unpins what is compared. */
  readonly release: () => void;
}

/**
 * Compares a backup with another, or with what the collection holds now, which is saved first. Both are pinned until `release`.
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
  const releases = [backups.hold(before.segments)];
  const release = () => {
    for (const one of releases) one();
  };
  try {
    const after = to === undefined ? await backups.freeze() : await find(to);
    releases.push('release' in after ? after.release : backups.hold(after.segments));
    const known = new Set(before.segments);
    const explain: Explain = (numbers, error) => {
      if (numbers.every((number) => known.has(number))) throw backupDamage(before, error);
      throw 'release' in after ? error : backupDamage(after, error);
    };
    const { log } = context.records;
    const moved = await findMoved(
      (numbers, take) => log.read(numbers, take).catch((error) => explain(numbers, error)),
      before.segments,
      after.segments,
    );
    return { parts: changesAmong(log, moved, explain), release };
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

/** Whether two versions are stored alike. Values that JSON does not keep are for the client to compare. */
function isSame(
  [flags, stamps, body]: RecordSide,
  [otherFlags, others, other]: RecordSide,
): boolean {
  return flags === otherFlags && body === other && isSameStamps(stamps, others);
}

function isSameStamps(a: Stamps | undefined, b: Stamps | undefined): boolean {
  return a?.join() === b?.join();
}
