import type { StorageOperation } from '../drivers/driver.ts';
import type { SegmentState } from '../segments/compaction.ts';
import { bytesOf, deletesSize, type Segment } from '../segments/segment.ts';
import type { Written } from '../segments/segment-writer.ts';
import { noNote, noteLastSegment } from '../segments/stored-segment.ts';
import { Watermarks } from '../segments/watermarks.ts';
import { FORMAT, type Manifest, noManifest, putManifest } from './manifest.ts';

export interface LiveSegmentList {
  readonly segments: readonly Pick<SegmentState, 'number' | 'bytes'>[];
  /** Number of the last change in them. Compaction replaces segments and changes nothing. */
  readonly changed: number;
  readonly version: number;
}

/** The live segments of a collection, and its stored manifest. */
export class LiveSegments {
  /** Lowest number first. */
  readonly states = new Map<number, SegmentState>();
  readonly watermarks = new Watermarks();
  /** The stored manifest, which may be a tombstone. */
  stored: Manifest | undefined;
  /** The first segment number of this leader. */
  first = 1;
  /** Number of the last change. */
  changed = 0;
  /** Number of the newest segment. */
  newest = 0;
  /** As {@link Manifest.replicated}; 0 where the collection is not. */
  replicated = 0;
  version = 1;
  /**
   * `false` where data is damaged: then the list is unknown, and nothing may be garbage-collected.
   */
  isKnown = false;
  readonly name: string;
  readonly #type: string;

  constructor(name: string, type: string) {
    this.name = name;
    this.#type = type;
  }

  /** The stored manifest; `undefined` where there is no such collection. */
  get manifest(): Manifest | undefined {
    return this.stored?.dropped ? undefined : this.stored;
  }

  /**
   * Whether this leader has stored a manifest: segments that an older one appends then do not
   * count.
   */
  get isRecorded(): boolean {
    return this.manifest !== undefined && this.manifest.next >= this.first;
  }

  get list(): LiveSegmentList {
    const { changed, version } = this;
    return { segments: [...this.states.values()], changed, version };
  }

  /** Appends segments that are stored, and notes in their records where they are. */
  append(written: readonly Written[]): void {
    for (const { segment, records, rows } of written) {
      const { number } = segment;
      records.forEach((record, index) => {
        record.segment = number;
        record.index = index;
      });
      rows?.stored(segment);
      this.states.set(number, stateOf(segment));
      this.newest = number;
    }
  }

  /** @param stored The stored manifest, which may be older than the newest segments. */
  replaceAll(states: ReadonlyMap<number, SegmentState>, stored: Manifest | undefined): void {
    this.stored = stored;
    const { manifest } = this;
    this.replicated = manifest?.replicated ?? 0;
    // A collection that is not stored has the version of its handles.
    if (manifest) this.version = manifest.version ?? 1;
    this.states.clear();
    for (const [number, state] of states) this.states.set(number, state);
    this.newest = [...states.keys()].at(-1) ?? 0;
    const { next = 0, changed = 0 } = manifest ?? {};
    this.changed = manifest && this.newest >= next ? this.newest : changed;
    this.isKnown = true;
  }

  /**
   * A manifest that lists these segments.
   *
   * @param last The highest number so far. All later segments are live without being listed.
   */
  makeManifest(segments: Iterable<number>, last: number, known = this.watermarks): Manifest {
    const watermarks = known.recent();
    return {
      format: FORMAT,
      name: this.name,
      type: this.#type,
      segments: [...segments],
      next: last + 1,
      changed: this.changed,
      noted: true,
      ...(this.version > 1 && { version: this.version }),
      ...(watermarks.length > 0 && { watermarks }),
      ...(this.replicated > 0 && { replicated: this.replicated }),
    };
  }

  /** Puts a manifest of {@link makeManifest}, with the note that it promises. */
  put(manifest: Manifest): StorageOperation[] {
    return [putManifest(manifest), noteLastSegment(this.name, this.changed)];
  }

  /** Puts back what is stored. */
  putBack(): StorageOperation[] {
    const { manifest, name, stored } = this;
    if (manifest) return this.put(manifest);
    return [stored ? putManifest(stored) : noManifest(name), noNote(name)];
  }
}

/** The state of a segment whose records are all live. */
export function stateOf(segment: Segment): SegmentState {
  const { number, size, indexed } = segment;
  const deletes = deletesSize(segment.deletes);
  const columns = indexed && Object.keys(indexed);
  return { number, size, bytes: bytesOf(segment), deletes, columns, live: size - deletes };
}
