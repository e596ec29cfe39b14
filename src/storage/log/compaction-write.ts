import type { Storage } from '../drivers/driver.ts';
import type { Written } from '../segments/segment-writer.ts';
import type { LogState } from './log-writes.ts';
import { isSameList, type Manifest } from './manifest.ts';
import { readManifest } from './open-log.ts';

/** The write of a compaction: new segments replace live ones. A failed one may be stored nevertheless. */
export class CompactionWrite {
  readonly #state: LogState;
  readonly #merged: ReadonlySet<number>;
  readonly #written: readonly Written[];
  readonly #manifest: Manifest;

  constructor(
    state: LogState,
    merged: ReadonlySet<number>,
    written: readonly Written[],
    manifest: Manifest,
  ) {
    this.#state = state;
    this.#merged = merged;
    this.#written = written;
    this.#manifest = manifest;
  }

  /** Must be called when the write is stored. */
  stored(): void {
    const { live, undo, bodies } = this.#state;
    undo.clear();
    live.manifest = this.#manifest;
    for (const number of this.#merged) {
      live.states.delete(number);
      bodies.merged(number);
    }
    live.append(this.#written);
    bodies.noteWritten(this.#written);
  }

  /** Whether a failed write was stored: its transaction includes the manifest. */
  async wasStored(storage: Storage): Promise<boolean> {
    const stored = await readManifest(storage, this.#manifest.name);
    return isSameList(stored, this.#manifest);
  }
}
