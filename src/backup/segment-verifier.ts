import type { Body } from '../codec/body.ts';
import type { Storage } from '../storage/drivers/driver.ts';
import { readListed } from '../storage/log/open-log.ts';
import { type Segment, type SegmentBodies, segmentProblem } from '../storage/segments/segment.ts';
import { LiveRecords } from './live-records.ts';

/** Something that is wrong with what is stored. */
export interface Defect {
  readonly code: 'manifest_missing' | 'segment_missing' | 'segment_damaged' | 'count_wrong';
  /** The segment, where it is about one. */
  readonly segment: number | undefined;
  readonly message: string;
}

/** Whether something that is stored can be read, whole. */
export interface VerificationResult {
  readonly whole: boolean;
  readonly documents: number;
  readonly segments: number;
  /** Rough bytes of the segments. */
  readonly bytes: number;
  /** What is wrong; empty where nothing is. */
  readonly problems: readonly Defect[];
}

/** Segments looked at in one request: about 1.5 MB of bodies. */
const AT_ONCE = 16;

interface VerifiedSegment {
  readonly size: number;
  readonly problem: Defect | undefined;
}

/** Looks whether lists of segments are whole; at each segment once, however many lists name it. */
export class SegmentVerifier {
  readonly #storage: Storage;
  readonly #collection: string;
  readonly #examined = new Map<number, VerifiedSegment>();

  constructor(storage: Storage, collection: string) {
    this.#storage = storage;
    this.#collection = collection;
  }

  /**
   * @param numbers In ascending order.
   * @param documents How many there should be, where that is known.
   */
  async verify(numbers: readonly number[], documents?: number): Promise<VerificationResult> {
    const unknown = numbers.filter((number) => !this.#examined.has(number));
    for (let from = 0; from < unknown.length; from += AT_ONCE) {
      await this.#verifySegments(unknown.slice(from, from + AT_ONCE));
    }
    const examined = numbers.map((number) => this.#examined.get(number) as VerifiedSegment);
    const readable = numbers.filter((_, index) => !examined[index]?.problem);
    const { count } = await LiveRecords.find(
      (some, take) => readListed(this.#storage, this.#collection, some, take),
      readable,
    );
    const problems = examined.flatMap(({ problem }) => problem ?? []);
    if (problems.length === 0 && documents !== undefined && documents !== count) {
      const message = `There are ${count} documents, and there should be ${documents}.`;
      problems.push({ code: 'count_wrong', segment: undefined, message });
    }
    return {
      whole: problems.length === 0,
      documents: count,
      segments: numbers.length,
      bytes: examined.reduce((sum, { size }) => sum + size, 0),
      problems,
    };
  }

  /** Rough bytes of a segment that was examined. */
  sizeOf(number: number): number {
    return this.#examined.get(number)?.size ?? 0;
  }

  async #verifySegments(numbers: readonly number[]): Promise<void> {
    const keys = numbers.map((number) => [this.#collection, number]);
    const [segments, bodies] = (await Promise.all([
      this.#storage.getMany('segments', keys),
      this.#storage.getMany('bodies', keys),
    ])) as [(Segment | undefined)[], (SegmentBodies | undefined)[]];
    for (const [index, number] of numbers.entries()) {
      const segment = segments[index];
      const wrong = segmentProblem(segment, number);
      const readable = wrong === undefined ? segment : undefined;
      this.#examined.set(number, {
        size: readable?.size ?? 0,
        problem: problemOf(
          number,
          segment,
          wrong ?? bodiesProblem(segment as Segment, bodies[index]),
        ),
      });
    }
  }
}

function problemOf(segment: number, found: unknown, wrong: string | undefined): Defect | undefined {
  if (wrong === undefined) return undefined;
  const code = found === undefined ? 'segment_missing' : 'segment_damaged';
  return { code, segment, message: `Segment ${segment} ${wrong}.` };
}

function bodiesProblem({ keys, bodies: inline }: Segment, apart: SegmentBodies | undefined) {
  const bodies = inline ?? apart?.bodies;
  if (!bodies) return 'has lost its documents';
  if (bodies.length !== keys.length)
    return `has ${bodies.length} documents, and there should be ${keys.length}`;
  const unreadable = bodies.findIndex((body) => !isReadable(body));
  return unreadable < 0 ? undefined : `cannot be read at its document "${keys[unreadable]}"`;
}

function isReadable(body: Body | undefined): boolean {
  if (typeof body !== 'string') return body !== undefined && 'exact' in body;
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
}
