import type { Coroutine, Result } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import type { Request } from '../../protocol/requests.ts';
import type { OperationContext } from '../collection-context.ts';
import type { Visited } from '../records/scan.ts';
import type { CompiledSelection } from './compiled-selection.ts';

/** A result as a stream of chunks. */
export interface Delivery {
  /** Whether chunks come in the order of the result; else in the order of ranks, up to `floor`. */
  readonly sorted: boolean;
  readonly done: boolean;
  /** No later document has a lower rank. */
  readonly floor: number;
  /** The next documents: at most so many, and about so many characters. */
  next(limit: number, size: number): Result<Visited[]>;
  /** Must be called at the end: a stream keeps compaction waiting. */
  end(): void;
}

/** A result that is not of records. */
interface MadeResult {
  readonly delivery: Delivery;
  readonly select: CompiledSelection['select'];
}

/** Reads whose code is a part. */
interface LateReads {
  readonly aggregate: (
    context: OperationContext,
    request: Request<'aggregate'>,
    pace: Pace,
  ) => Coroutine<MadeResult>;
}

/** Of a request that has waited for the part. */
export let lateReads: LateReads;

/** To be called by the part once it has loaded. */
export function provideReads(given: LateReads): void {
  lateReads = given;
}
