import type { Coroutine, Result } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import { bodySize } from '../../codec/size.ts';
import { CriteriaError } from '../../errors/errors.ts';

/** Documents that go through the stages together. */
export const BATCH = 256;

/** What the stages of one pipeline may keep, in about so many bytes. */
const MOST_KEPT = 100 * 1024 * 1024;

/** What a group, a sorted document and the like take besides their values. */
const OVERHEAD = 64;

/** What a stage reads of another collection. */
export interface ForeignAsk {
  /** What all documents have to fulfil that it needs. */
  readonly criteria: readonly object[];
  readonly place: string;
}

/** How a stage looks up documents of another collection. */
export interface LookupAsk extends ForeignAsk {
  /** The path by which they are found, and what they have there; of the form that has one. */
  readonly path: string | undefined;
  readonly valuesOf: (document: object) => Iterable<unknown>;
  /** Of the other form: paths that have to equal a variable. */
  readonly equal: readonly { readonly path: string; readonly cell: { readonly value: unknown } }[];
}

/** Looks up documents of another collection, for a run. Each of them is one object. */
export interface ForeignLookup {
  /** Must be called with values before {@link of}: many are found together. */
  load(values: readonly unknown[]): Coroutine<void>;
  /** Those that have the value, or one of its items. */
  of(value: unknown): Coroutine<readonly object[]>;
  /** Those that may equal the present variables, and perhaps others. */
  candidates(): Coroutine<readonly object[]>;
}

/** Another collection, as of the instant of a run. */
export interface ForeignCollection {
  /** Passes on documents, batch by batch, in their order. */
  read(ask: ForeignAsk, take: (documents: readonly object[]) => Result<void>): Coroutine<void>;
  /** @param charge Takes the bytes that are kept. */
  lookup(ask: LookupAsk, charge: (bytes: number) => void): ForeignLookup;
}

/** One run of a pipeline: it yields to other requests, and counts what its stages keep. */
export class PipelineRun {
  readonly #pace: Pace;
  readonly #most: number;
  readonly foreign: (name: string) => ForeignCollection;
  readonly #shared = new Map<object, object>();
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

  /** What a stage keeps for the run, however often it is opened. */
  shared<T extends object>(stage: object, make: () => T): T {
    const known = this.#shared.get(stage) as T | undefined;
    if (known) return known;
    const made = make();
    this.#shared.set(stage, made);
    return made;
  }

  /** What is no longer kept. */
  release(bytes: number): void {
    this.#kept -= bytes;
  }
}

function none(): never {
  throw new Error('Its stages name no other collection.');
}
