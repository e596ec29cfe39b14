import type { Body } from '../../codec/body.ts';
import type { StorageOperation } from '../drivers/driver.ts';
import { cutPart } from '../segments/record-part.ts';
import { cutSegments, type SegmentContent, type SegmentSizes } from '../segments/segment.ts';
import type { SegmentWriter, Written } from '../segments/segment-writer.ts';
import type { StoredRecord } from '../segments/stored-record.ts';
import { noteLastSegment } from '../segments/stored-segment.ts';
import { stateOf } from './live-segments.ts';
import type { Attachment, Changes, LogState, UndoablePut } from './log-writes.ts';
import { type Manifest, putManifest } from './manifest.ts';

/**
 * Appends changes, and creates the collection. Nothing else may be written to the log until
 * {@link stored} or {@link failed} is called.
 */
export class AppendWrite {
  /** To be written in one transaction; those of several collections may share it. Drawn once. */
  readonly operations: Iterable<StorageOperation>;
  readonly #state: LogState;
  readonly #writer: SegmentWriter;
  readonly #changes: Changes;
  readonly #written: Written[] = [];
  #attached: readonly UndoablePut[] = [];
  #manifest: Manifest | undefined;

  constructor(state: LogState, writer: SegmentWriter, changes: Changes, attach?: Attachment) {
    this.#state = state;
    this.#writer = writer;
    this.#changes = changes;
    this.operations = this.#draw(attach);
  }

  /** Undoes the operations drawn so far. */
  get undoing(): StorageOperation[] {
    const { live } = this.#state;
    const deletions = this.#writer.deletions(this.#written.map(({ segment }) => segment.number));
    const noted = noteLastSegment(live.name, live.noted);
    return [...deletions, noted, ...this.#attached.map(({ undo }) => undo)];
  }

  /** Must be called when the write has succeeded. */
  stored(): void {
    const { live, undo, bodies } = this.#state;
    undo.clear();
    live.stored = this.#manifest ?? live.stored;
    if (this.#changes.watermarks) live.watermarks.merge(this.#changes.watermarks);
    live.changed = this.#written.at(-1)?.segment.number ?? live.changed;
    live.append(this.#written);
    live.noted = this.#written.at(-1)?.segment.number ?? live.noted;
    bodies.noteWritten(this.#written);
  }

  /**
   * Must be called when the write has failed: it may have been stored, so the next write undoes it.
   *
   * @param undoing Undoes the whole write, the parts of other collections included.
   */
  failed(undoing: StorageOperation[]): void {
    this.#state.undo.add(undoing);
  }

  *#draw(attach?: Attachment): Generator<StorageOperation> {
    const { live, undo } = this.#state;
    const { watermarks } = this.#changes;
    yield* undo.operations;
    if (!live.isRecorded) {
      this.#manifest = live.makeManifest(live.states.keys(), this.#writer.last);
      yield putManifest(this.#manifest);
    }
    const segments = this.#writer.build(
      contentsOf(this.#changes, this.#writer.sizes),
      live.newest,
      { watermarks },
    );
    yield* this.#writer.puts(segments, this.#written);
    const newest = this.#written.at(-1)?.segment.number;
    if (newest !== undefined) yield noteLastSegment(live.name, newest);
    if (!attach) return;
    const appended = this.#written.map(({ segment }) => stateOf(segment));
    this.#attached = attach({
      segments: [...live.states.values(), ...appended],
      changed: appended.at(-1)?.number ?? live.changed,
      version: live.version,
    });
    for (const { put } of this.#attached) yield put;
  }
}

function* contentsOf(
  { deletes, records, parts }: Changes,
  sizes: SegmentSizes,
): Generator<SegmentContent> {
  yield* cutSegments(deletes, records, pendingBody, sizes);
  for (const part of parts) yield* cutPart(part, sizes);
}

/** Invariant: a record that is in no segment has its encoded document. */
function pendingBody(record: StoredRecord): Body {
  return record.body as Body;
}
