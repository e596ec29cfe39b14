import { firstWhere } from '../../../codec/first-where.ts';
import {
  STORE_NAMES,
  type StorageKey,
  type StorageRange,
  type StoreName,
} from '../../drivers/driver.ts';
import { compareKeys, isKeyBelow } from '../../drivers/key-order.ts';
import type { FrameHead, FrameHeader } from './frame-format.ts';
import { frameEnd } from './frame-format.ts';

/** A stored value: its key, and the frame that has it. Invariant: an entry never changes. */
export interface FileEntry {
  readonly store: StoreName;
  readonly key: StorageKey;
  readonly frame: FrameHeader;
}

/** The keys of a database, in order, and where their values lie in the file. */
export class FileIndex {
  /** Bytes of the frames of all entries. */
  live = 0;
  readonly #stores = new Map(STORE_NAMES.map((name) => [name, new StoreIndex()]));

  get(store: StoreName, key: StorageKey): FileEntry | undefined {
    return this.#of(store).entries.get(idOf(key));
  }

  /** The entries in a range, in order. */
  list(store: StoreName, { prefix, after, limit }: StorageRange): FileEntry[] {
    const sorted = this.#of(store).sorted();
    const found: FileEntry[] = [];
    for (let index = firstBehind(sorted, after ?? prefix, after !== undefined); ; index++) {
      const entry = sorted[index];
      if (!entry || found.length >= limit || !isKeyBelow(entry.key, prefix)) return found;
      found.push(entry);
    }
  }

  /** Applies the step of a frame. */
  apply([store, key, kind]: FrameHead, frame: FrameHeader): void {
    const index = this.#of(store);
    if (kind === 'deletePrefix') {
      const all = this.list(store, { prefix: key, limit: Number.POSITIVE_INFINITY });
      for (const entry of all) this.#remove(index, idOf(entry.key));
      return;
    }
    const id = idOf(key);
    this.#remove(index, id);
    if (kind === 'delete') return;
    index.put(id, { store, key, frame });
    this.live += sizeOf(frame);
  }

  /** All entries, in no order. */
  *all(): Generator<FileEntry> {
    for (const { entries } of this.#stores.values()) yield* entries.values();
  }

  #remove(index: StoreIndex, id: string): void {
    const removed = index.remove(id);
    if (removed) this.live -= sizeOf(removed.frame);
  }

  #of(store: StoreName): StoreIndex {
    return this.#stores.get(store) as StoreIndex;
  }
}

/** A text for each key. */
function idOf(key: StorageKey): string {
  return JSON.stringify(key);
}

class StoreIndex {
  /** By {@link idOf}. */
  readonly entries = new Map<string, FileEntry>();
  /** In the order of keys; `undefined` while that has to be found out. */
  #sorted: FileEntry[] | undefined = [];

  put(id: string, entry: FileEntry): void {
    this.entries.set(id, entry);
    // Segments are numbered upwards: mostly this is the last key.
    const last = this.#sorted?.at(-1);
    if (!last || compareKeys(last.key, entry.key) < 0) this.#sorted?.push(entry);
    else this.#sorted = undefined;
  }

  remove(id: string): FileEntry | undefined {
    const entry = this.entries.get(id);
    if (entry && this.entries.delete(id)) this.#sorted = undefined;
    return entry;
  }

  sorted(): readonly FileEntry[] {
    this.#sorted ??= [...this.entries.values()].sort((a, b) => compareKeys(a.key, b.key));
    return this.#sorted;
  }
}

/** The index of the first entry at the key, or behind it. */
function firstBehind(sorted: readonly FileEntry[], key: StorageKey, isExclusive: boolean): number {
  return firstWhere(0, sorted.length, (at) => {
    const order = compareKeys((sorted[at] as FileEntry).key, key);
    return isExclusive ? order > 0 : order >= 0;
  });
}

function sizeOf(frame: FrameHeader): number {
  return frameEnd(frame) - frame.at;
}
