import type { CollectionSettings } from '../../engine/protocol/settings.ts';
import type { HandleChannel } from '../calls/handle-channel.ts';
import type { CollectionSchema } from '../schema/collection-schema.ts';
import type { MigrationSteps } from './migration-steps.ts';

/** What a migration works with. */
export interface MigrationParts {
  readonly channel: HandleChannel;
  readonly settings: CollectionSettings;
  readonly steps: MigrationSteps;
  /** Loads the code of the schema, if there is one. */
  readonly schema: () => Promise<CollectionSchema | undefined>;
}
