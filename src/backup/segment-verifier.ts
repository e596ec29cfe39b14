import type { Storage } from '../storage/drivers/driver.ts';
import { intactBodies } from '../storage/integrity/body-checks.ts';
import { readListed } from '../storage/segments/read-segments.ts';
import { bytesOf, type Segment, type SegmentBodies } from '../storage/segments/segment.ts';
import { readSegment, segmentProblem } from '../storage/segments/stored-segment.ts';
import { LiveRecords } from './snapshot-reader.ts';

/** A defect of the stored data, found by `verify()`. */
export interface Defect {
  readonly code:
    | 'storage_damaged'
    | 'manifest_missing'
    | 'manifest_damaged'
    | 'segment_missing'
    | 'segment_damaged'
    | 'backup_missing'
    | 'backup_damaged'
    | 'count_wrong';
  /** Number of the segment, if the defect is in one. */
  readonly segment: number | undefined;
  readonly message: string;
}

/** Whether a collection or a backup can be read completely. */
export interface VerificationResult {
  readonly whole: boolean;
  readonly documents: number;
  readonly segments: number;
  /** Rough bytes of the segments, Blobs included. */
  readonly bytes: number;
  /** Empty if the data is whole. */
  readonly problems: readonly Defect[];
}

/** Segments read in one request: about 1.5 MB of documents. */
const AT_ONCE = 16;

/** Damaged documents that a message names. */
const NAMED = 10;

interface VerifiedSegment {
  readonly bytes: number;
  readonly problem: Defect | undefined;
}

/** Verifies lists of segments. A segment in several lists is read once. */
export class SegmentVerifier {
  readonly #storage: Storage;
  readonly #collection: string;
  readonly #verified = new Map<number, VerifiedSegment>();

  constructor(storage: Storage, collection: string) {
    this.#storage = storage;
    this.#collection = collection;
  }

  /**
   * @param numbers In ascending order.
   * @param documents The expected number, if it is known.
   */
  async verify(numbers: readonly number[], documents?: number): Promise<VerificationResult> {
    const unknown = numbers.filter((number) => !this.#verified.has(number));
    for (let from = 0; from < unknown.length; from += AT_ONCE) {
      await this.#verifySegments(unknown.slice(from, from + AT_ONCE));
    }
    const verified = numbers.map((number) => this.#verified.get(number) as VerifiedSegment);
    const readable = numbers.filter((_, index) => !verified[index]?.problem);
    const { count } = await LiveRecords.find(
      (some, take) => readListed(this.#storage, this.#collection, some, take),
      readable,
    );
    const problems = verified.flatMap(({ problem }) => problem ?? []);
    if (problems.length === 0 && documents !== undefined && documents !== count) {
      const message = `There are ${count} documents, and there should be ${documents}.`;
      problems.push({ code: 'count_wrong', segment: undefined, message });
    }
    return {
      whole: problems.length === 0,
      documents: count,
      segments: numbers.length,
      bytes: verified.reduce((sum, { bytes }) => sum + bytes, 0),
      problems,
    };
  }

  /** Rough bytes of a verified segment. */
  bytesOf(number: number): number {
    return this.#verified.get(number)?.bytes ?? 0;
  }

  async #verifySegments(numbers: readonly number[]): Promise<void> {
    const keys = numbers.map((number) => [this.#collection, number]);
    const [segments, bodies] = (await Promise.all([
      this.#storage.getMany('segments', keys),
      this.#storage.getMany('bodies', keys),
    ])) as [unknown[], (SegmentBodies | undefined)[]];
    for (const [index, number] of numbers.entries()) {
      const value = segments[index];
      const segment = readSegment(this.#collection, number, value)?.segment;
      const problem = segment ? bodiesDefect(segment, bodies[index]) : segmentProblem(value);
      this.#verified.set(number, {
        bytes: segment ? bytesOf(segment) : 0,
        problem: defectOf(number, value, problem),
      });
    }
  }
}

function defectOf(segment: number, found: unknown, defect: string | undefined): Defect | undefined {
  if (defect === undefined) return undefined;
  const code = found === undefined ? 'segment_missing' : 'segment_damaged';
  return { code, segment, message: `Segment ${segment} ${defect}.` };
}

function bodiesDefect({ keys, checks, bodies: inline }: Segment, apart: SegmentBodies | undefined) {
  const stored = inline ?? apart?.bodies;
  const bodies = intactBodies(stored, checks);
  if (!bodies) return 'has lost its documents';
  if (stored?.length !== keys.length)
    return `has ${stored?.length} documents, and there should be ${keys.length}`;
  const damaged = keys.filter((_, index) => bodies[index] === undefined);
  if (damaged.length === 0) return undefined;
  const named = damaged.slice(0, NAMED).map((key) => `"${key}"`);
  const more = damaged.length > NAMED ? ` and ${damaged.length - NAMED} more` : '';
  return `has damaged documents: ${named.join(', ')}${more}`;
}
