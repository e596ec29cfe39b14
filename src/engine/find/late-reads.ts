import type { Coroutine, Result } from '../../async/coroutine.ts';
import type { Pace } from '../../async/pace.ts';
import type { AggregateAsk, NearestAsk, SearchAsk } from '../../protocol/live-protocol.ts';
import type { RelatedAsk, RelationPlan } from '../../protocol/relation-protocol.ts';
import type { Request, ScanReply, Selection } from '../../protocol/requests.ts';
import type { ForeignCollection } from '../../query/pipeline/run.ts';
import type { OperationContext } from '../collection-context.ts';
import type { SnapshotHolder } from '../records/open-snapshots.ts';
import type { RecordStore, Records } from '../records/record-store.ts';
import type { Visited } from '../records/scan.ts';
import type { CompiledSelection } from './compiled-selection.ts';
import type { CollectedPageEnd } from './result-collector.ts';

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

/** A scan that has found its documents, or finds them as it is read. */
export interface BegunScan {
  readonly delivery: Delivery;
  readonly pace: Pace;
  readonly select: CompiledSelection['select'];
  /** Where the page ends. */
  readonly end: CollectedPageEnd | undefined;
  /** The partners of documents, where any are included. */
  readonly included?: (found: readonly Visited[]) => Coroutine<ScanReply['included']>;
}

/** One instant of all collections. */
export interface Instant {
  viewOf(records: RecordStore): Records;
  /** What was found of it can be read for as long as its records are pinned. */
  release(): void;
}

/** @param deliver Delivers what is found. */
export type LateRead = (
  context: OperationContext,
  request: Request,
  deliver: (scan: BegunScan) => Coroutine<ScanReply>,
) => Coroutine<unknown>;

/** What a pipeline reads, all as of one instant. */
export interface ForeignReading {
  /** The collection itself. */
  readonly context: OperationContext;
  /** How its stages have found documents of others so far. */
  readonly plans: readonly RelationPlan[];
  /** The pipeline without conditions on partners, which its first stages may have. */
  resolve(pipeline: object): Coroutine<object>;
  /** One of those that the request names. @throws {CriteriaError} `operand_invalid` */
  collection(name: string, place: string): ForeignCollection;
}

/** What all documents of other collections have in common that a pipeline reads. */
export interface ForeignSettings extends Pick<Selection, 'archived' | 'collation'> {
  readonly pace: Pace;
}

/** Reads whose code is a part. */
interface LateReads {
  /** Reads what a pipeline names besides; perhaps again, as of a later instant. */
  readonly foreign: <T>(
    context: OperationContext,
    related: RelatedAsk,
    ask: ForeignSettings,
    read: (reading: ForeignReading) => Coroutine<T>,
  ) => Coroutine<T>;
  /** Runs a pipeline. */
  readonly aggregate: LateRead;
  /** Asks an index of the part of that name. */
  readonly search: LateRead;
  readonly vectors: LateRead;
  /** Executes a read that looks into other collections. */
  readonly related: LateRead;
  /** Where a page starts: behind `after`. Of the part of updates. */
  readonly pageStart: (
    context: OperationContext,
    selection: Partial<Selection>,
  ) => Coroutine<CollectedPageEnd>;
  /** Of the part of transactions. */
  readonly takeInstant: (snapshots: SnapshotHolder) => Instant;
}

/** Of a request that has waited for the part. */
export const lateReads: LateReads = {} as never;

type AskedPart = (SearchAsk | NearestAsk)['part'];

/** What makes the result of a pipeline, or of a question to an index. */
export function kindOf({ pipeline }: Partial<AggregateAsk>): 'aggregate' | AskedPart {
  return (pipeline as { part?: AskedPart } | undefined)?.part ?? 'aggregate';
}

/** To be called by a part once it has loaded. */
export function provideReads(given: Partial<LateReads>): void {
  Object.assign(lateReads, given);
}
