import type { Signal } from '@preact/signals';
import type { Stored } from 'cairndb';
import type { ReplicationStatus } from 'cairndb/replication';
import type { Item, OpenDevice } from './recipes/open-device.ts';

/** A device of the panel, as it is shown. */
export interface Device {
  readonly title: string;
  readonly client: OpenDevice;
  readonly isOnline: Signal<boolean>;
  /** Whether it looks at the bakery beside the market. */
  readonly hasBakery: Signal<boolean>;
  readonly status: Signal<ReplicationStatus>;
  readonly items: Signal<readonly Stored<Item>[]>;
  /** Newest first. */
  readonly log: Signal<readonly LogEntry[]>;
  /** Connects it with the server, or cuts its line. */
  setOnline(isOnline: boolean): void;
  setBakery(isWanted: boolean): Promise<void>;
  end(): Promise<void>;
}

export interface LogEntry {
  readonly at: Date;
  readonly text: string;
}
