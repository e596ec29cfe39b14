import type { Leadership } from '../leadership/leadership.ts';
import type { Platform } from '../platform/platform.ts';
import type { DatabaseSettings } from './channel.ts';

/** How a client gets at engines: by this page's part in the leadership, on this platform. */
export interface EngineAccess {
  readonly leadership: Leadership;
  readonly platform: Platform;
}

/** Loads what a client needs to reach an engine: in this thread, or in a worker. */
export type Connect = (settings: DatabaseSettings) => EngineAccess | Promise<EngineAccess>;
