import type { Coroutine } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import { bodySize } from '../../codec/size.ts';
import { CriteriaError } from '../../errors/errors.ts';

/** Documents that go through the stages together. */
export const BATCH = 256;

/** What the stages of one pipeline may keep, in about so many bytes. */
const MOST_KEPT = 100 * 1024 * 1024;

/** What a group, a sorted document and the like take besides their values. */
const OVERHEAD = 64;

/** One run of a pipeline: it yields to other requests, and counts what its stages keep. */
export class PipelineRun {
  readonly #pace: Pace;
  readonly #most: number;
  /** The documents of another collection. */
  readonly foreign: (name: string) => Coroutine<readonly object[]>;
  #kept = 0;

  constructor(pace: Pace, foreign: PipelineRun['foreign'] = none, most = MOST_KEPT) {
    this.foreign = foreign;
    this.#pace = pace;
    this.#most = most;
  }

  /** Yields where a slice is over; to be called for each batch. @throws {CairnError} `aborted` */
  *breathe(): Coroutine<void> {
    if (this.#pace.late) yield* this.#pace.pause();
  }

  /** Counts values that a stage keeps. @throws {CriteriaError} `aggregate_too_large` */
  keep(values: readonly unknown[], place: string): void {
    let size = 0;
    for (const value of values) size += bodySize({ exact: value });
    this.charge(size + values.length * OVERHEAD, place);
  }

  /** @throws {CriteriaError} `aggregate_too_large` */
  charge(bytes: number, place: string): void {
    this.#kept += bytes;
    if (this.#kept <= this.#most) return;
    const most = Math.round(this.#most / 1024 / 1024);
    throw new CriteriaError(
      'aggregate_too_large',
      `'${place}' and the stages before it would keep more than ${most} MB. Put $match, $project or $limit before it.`,
      { place },
    );
  }

  /** What is no longer kept. */
  release(bytes: number): void {
    this.#kept -= bytes;
  }
}

function none(): never {
  throw new Error('Its stages name no other collection.');
}
