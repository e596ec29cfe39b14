import type { CollectionSettings } from '../../engine/protocol/settings.ts';
import type { HandleChannel } from '../calls/handle-channel.ts';

/** Where the changes of a diff come from. */
export interface ChangeSource {
  readonly settings: CollectionSettings;
  readonly channel: () => Promise<HandleChannel>;
}
