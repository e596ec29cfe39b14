import type { Leases } from '../../backup/leases.ts';
import type { Durability } from '../../storage/drivers/driver.ts';
import type { FencedStorage } from '../../storage/fenced-storage.ts';
import type { SegmentPool } from '../../storage/segments/segment-pool.ts';
import type { IdGenerator } from '../documents/ids.ts';
import type { EngineEvents } from '../events/engine-events.ts';
import type { SaveLinks } from '../saving/save-links.ts';
import type { SaveSchedule } from '../saving/save-schedule.ts';
import type { Clock } from '../scheduling/clock.ts';
import type { OpenSnapshots } from '../snapshots/open-snapshots.ts';

/** What all collections of an engine share. */
export interface EngineEnvironment {
  readonly storage: FencedStorage;
  /** The last leader may still write: a takeover is recorded before anything is answered. */
  readonly stolen: boolean;
  readonly pool: SegmentPool;
  readonly durability: Durability;
  readonly leases: Leases;
  readonly snapshots: OpenSnapshots;
  readonly clock: Clock;
  readonly newId: IdGenerator;
  /** Whether the thread is terminated when a request hangs. */
  readonly terminable: boolean;
  /** Whether the changes that earlier engines have acknowledged are replayed. */
  readonly isRecovered: () => boolean;
  readonly events: EngineEvents;
  /** As `CheckpointWriter` has it, unless it is given. */
  readonly checkpointAfter?: number | undefined;
  readonly links: SaveLinks<SaveSchedule>;
}
