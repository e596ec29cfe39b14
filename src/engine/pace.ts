import { CairnError } from '../errors/cairn-error.ts';
import type { Clock } from './clock.ts';
import { nextTurn } from './next-turn.ts';
import type { Work } from './work.ts';

/** How long work may keep the thread before it lets others have a turn. */
const SLICE_MS = 10;

/** Looks at the clock once in so many calls: looking costs more than testing a document. */
const LOOK_EVERY = 256;

/** Lets long reads be interrupted: by other requests, and for good by whoever asked for them. */
export class Pace {
  readonly #clock: Clock;
  readonly #aborts: Aborts;
  readonly #call: number | undefined;
  #steps = 0;
  #since: number;

  constructor(clock: Clock, aborts: Aborts, call?: number) {
    this.#clock = clock;
    this.#aborts = aborts;
    this.#call = call;
    this.#since = clock.elapsed();
  }

  /** Whether it is time to {@link Pace.pause}; to be asked for every document. */
  get due(): boolean {
    return ++this.#steps % LOOK_EVERY === 0 && this.late;
  }

  /** The same, to be asked now and then. */
  get late(): boolean {
    return !this.#aborts.immediate && this.#clock.elapsed() - this.#since > SLICE_MS;
  }

  /** Lets others have a turn. @throws {CairnError} `aborted` */
  *pause(): Work<void> {
    yield nextTurn();
    this.#since = this.#clock.elapsed();
    if (this.#call !== undefined && this.#aborts.has(this.#call)) {
      throw new CairnError('aborted', 'The call was aborted by its signal.');
    }
  }
}

/** The calls that their callers have given up. */
export class Aborts extends Set<number> {
  /** Set while a request must be executed without waiting. */
  immediate = false;
}
