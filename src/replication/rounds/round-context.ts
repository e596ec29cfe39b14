import type { Clock } from '../../async/clock.ts';
import type { CairnError } from '../../errors/errors.ts';
import type { CollectionSchema } from '../../page/sending/collection-schema.ts';
import type { HandleRequest } from '../../page/sending/sender.ts';
import type { ReplicaOperations } from '../../protocol/replica-protocol.ts';
import type { RoundFiles } from '../protocol/files.ts';
import type { HeldIds } from '../protocol/remote.ts';
import type { StateCodec } from '../states.ts';
import type { Conflict, ConflictResolution } from './conflict-resolution.ts';
import type { RemoteCalls } from './remote-calls.ts';

/** The operations of the engine that a round uses. */
type Operation = keyof ReplicaOperations;

export interface RoundContext {
  /** Names the replica: the keys of its pushes begin with it. */
  readonly replica: string;
  readonly remote: RemoteCalls;
  readonly clock: Clock;
  readonly codec: StateCodec;
  readonly conflicts: ConflictResolution;
  /** Sends a request to the engine. */
  send<Name extends Operation>(
    request: HandleRequest<Name>,
  ): Promise<ReplicaOperations[Name]['reply']>;
  /** Saves the collection: only saved changes are pushed. */
  save(): Promise<unknown>;
  readonly held?: HeldIds | undefined;
  /** Where the documents name files. */
  readonly files: RoundFiles | undefined;
  readonly pulls: boolean;
  readonly pushes: boolean;
  /** Of this page's collection. */
  readonly schema: CollectionSchema | undefined;
  readonly events: RoundEvents;
}

/** What a round tells of its progress. */
export interface RoundEvents {
  /** Those that were resolved: they are applied, or may be. */
  conflicts(conflicts: readonly Conflict[]): void;
  pulled(documents: number): void;
  pushed(documents: number): void;
  rejected(id: string, reason: string): void;
  /** The schema of the collection refuses a document that was stored. */
  invalid(id: string, error: CairnError): void;
  /** All local changes so far are pushed. */
  caughtUp(): void;
}
