import type { Storage } from '../drivers/driver.ts';
import type { Written } from '../segments/segment-writer.ts';
import type { LogState } from './log-writes.ts';
import { isSameList, type Manifest } from './manifest.ts';
import { readManifest } from './open-log.ts';

interface Compaction {
  readonly merged: ReadonlySet<number>;
  /** Those of them that no backup references: they are deleted. */
  readonly gone: readonly number[];
  readonly written: readonly Written[];
  readonly manifest: Manifest;
}

/** The write of a compaction: new segments replace live ones. A failed one may be stored nevertheless. */
export class CompactionWrite {
  readonly #state: LogState;
  readonly #compaction: Compaction;

  constructor(state: LogState, compaction: Compaction) {
    this.#state = state;
    this.#compaction = compaction;
  }

  /** Must be called when the write is stored. */
  stored(): void {
    const { live, undo, bodies } = this.#state;
    const { merged, gone, written, manifest } = this.#compaction;
    undo.clear();
    live.stored = manifest;
    for (const number of merged) {
      live.states.delete(number);
      bodies.merged(number);
    }
    bodies.forget(gone);
    live.append(written);
    bodies.noteWritten(written);
  }

  /** Whether a failed write was stored: its transaction includes the manifest. */
  async wasStored(storage: Storage): Promise<boolean> {
    const { manifest } = this.#compaction;
    return isSameList(await readManifest(storage, manifest.name), manifest);
  }
}
