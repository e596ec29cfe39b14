import type { Result } from '../../async/coroutine.ts';
import { peek } from '../../codec/body.ts';
import type { Key } from '../../protocol/key-value-protocol.ts';
import type { LiveOperations } from '../../protocol/live-protocol.ts';
import type { Request } from '../../protocol/requests.ts';
import type { CollectionContext } from '../collection-context.ts';
import { kindOf } from '../find/late-reads.ts';
import type { Records } from '../records/record-store.ts';
import { ListResult } from './list-result.ts';
import type { LiveReader } from './live-reader.ts';
import { CountResult, ItemResult, type MaintainedResult } from './live-result.ts';

type LiveRequest = Request<keyof LiveOperations>;

/** A key that no record has: the changes themselves are noted. */
const NOTED: ReadonlySet<string> = new Set(['']);

type MakeResult = (
  context: CollectionContext,
  request: Request<'live'>,
  reader: LiveReader,
) => MaintainedResult;

/** Results whose code is a part, which adds its own; their request has waited for it. */
export const lateResults: {
  /** Of a pipeline. */
  aggregate: MakeResult;
  /** Of what an index of the part is asked. */
  search: MakeResult;
  /** Of a query that looks into other collections. */
  related: MakeResult;
  /** Of a key of a key-value collection. */
  value(records: Records, key: Key): MaintainedResult;
} = {} as never;

/** A query of another collection. */
interface ChangesWatcher {
  /** Notes changed keys; the reader computes afterwards. */
  readonly note: (keys: ReadonlySet<string>) => void;
  readonly reader: LiveReader;
}

/** The live queries of a collection, of all sessions. */
export class LiveQueries {
  readonly #context: CollectionContext;
  /** The readers, each with whether it decodes changes at once. */
  readonly #readers = new Map<LiveReader, boolean>();
  /** Queries of other collections that look into this one. */
  readonly #watchers = new Set<ChangesWatcher>();
  /** Keys that changed in this batch; only collected while there are readers. */
  #touched = new Set<string>();

  constructor(context: CollectionContext) {
    this.#context = context;
  }

  /** Number of readers, here and of other collections. */
  get size(): number {
    return this.#readers.size + this.#watchers.size;
  }

  /**
   * Executes a request about a live query; the reply to a mayHang request comes after its patterns
   * have run.
   */
  perform(request: LiveRequest, reader: LiveReader | undefined): Result<undefined> {
    if (!reader) return undefined;
    if (request.op === 'liveNext') reader.next(request.mayHang === true);
    else if (request.op === 'liveEnd') reader.end();
    else {
      const { records, clock } = this.#context;
      const { spec, mayHang = false } = request;
      const result = this.#resultFor(request, reader);
      const throttle = Math.max(request.throttle, result.throttle ?? 0);
      this.#readers.set(reader, spec.kind !== 'item' && !mayHang);
      const left = () => {
        this.#readers.delete(reader);
        result.end?.();
      };
      reader.begin({ result, records, clock, throttle, mayHang, left });
    }
    return request.mayHang && reader.resting();
  }

  /** Must be called with each change. */
  touch(key: string): void {
    if (this.size > 0) this.#touched.add(key);
  }

  /** Watches the changes of this collection for a query of another. @returns what ends it. */
  watch(watcher: ChangesWatcher): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** Must be called after each batch: passes its changes to the readers. */
  settle(): void {
    if (this.#touched.size === 0) return;
    const keys = this.#touched;
    this.#touched = new Set();
    // All know of the change before any computes what it shows.
    const watchers = [...this.#watchers];
    for (const { note } of watchers) note(keys);
    const readers = [...this.#readers];
    const looks = readers.some(([, decodes]) => decodes);
    const { table } = this.#context.records;
    const changed = Array.from(keys, (key) => table.get(key)).filter((one) => one !== undefined);
    // Decoded once for all readers.
    if (looks)
      for (const record of changed)
        if (record.body !== undefined) record.value ??= peek(record.body);
    const areResident = changed.every(({ body }) => body !== undefined);
    for (const [reader] of readers) reader.changed(keys, areResident);
    for (const { reader } of watchers) reader.changed(NOTED, true);
    // An uncached collection keeps no decoded documents.
    if (looks && !this.#context.settings.caching)
      for (const record of changed) record.value = undefined;
  }

  /** Must be called when all records were replaced. */
  reload(): void {
    this.#touched.clear();
    for (const reader of this.#all) reader.reload();
  }

  /** Ends all readers: the collection was dropped. */
  fail(error: unknown): void {
    for (const reader of this.#all) reader.fail(error);
  }

  get #all(): LiveReader[] {
    return [...this.#readers.keys(), ...Array.from(this.#watchers, ({ reader }) => reader)];
  }

  #resultFor(request: Request<'live'>, reader: LiveReader): MaintainedResult {
    const { records, settings } = this.#context;
    const { spec, related } = request;
    if (related && spec.kind !== 'aggregate')
      return lateResults.related(this.#context, request, reader);
    switch (spec.kind) {
      case 'list':
        return new ListResult(this.#context, spec);
      case 'aggregate':
        return lateResults[kindOf(spec) as 'aggregate'](this.#context, request, reader);
      case 'count':
        return new CountResult(this.#context, spec);
      case 'item':
        return settings.type === 'DOCUMENT_BASED'
          ? new ItemResult(records, spec.key as string)
          : lateResults.value(records, spec.key);
    }
  }
}
