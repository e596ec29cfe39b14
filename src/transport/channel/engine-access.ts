import type { Leadership, StartEngine } from '../leadership/leadership.ts';
import type { Platform } from '../platform/platform.ts';
import type { DatabaseSettings } from './channel.ts';

/** A client's access to engines: the page's leadership, and its platform. */
export interface EngineAccess {
  readonly leadership: Leadership;
  readonly platform: Platform;
  /** Starts an engine with the options of this client. */
  readonly start?: StartEngine | undefined;
}

/** Access of a client that can start engines itself. */
export interface StartingAccess extends EngineAccess {
  readonly start: StartEngine;
}

/** Loads the code to reach an engine in this thread, or in a worker. */
export type Connect = (settings: DatabaseSettings) => EngineAccess | Promise<EngineAccess>;

/**
 * Deletes a database.
 *
 * @param database Its id, where the client knows it.
 */
export type DestroyDatabase = (
  settings: DatabaseSettings,
  access: EngineAccess,
  database: string | undefined,
) => Promise<void>;
