import { peek } from '../../codec/body.ts';
import type { CollectionContext } from '../collections/collection-context.ts';
import { parseKey } from '../paths/key-path.ts';
import type { LiveOperations, LiveSpec } from '../protocol/live-protocol.ts';
import type { Request } from '../protocol/requests.ts';
import type { Result } from '../scheduling/coroutine.ts';
import { CountResult } from './count-result.ts';
import { ItemResult } from './item-result.ts';
import { ListResult } from './list-result.ts';
import type { LiveReader } from './live-reader.ts';
import type { LiveResult } from './live-result.ts';

type LiveRequest = Request<keyof LiveOperations>;

/** The live queries of a collection, whoever reads them. */
export class LiveQueries {
  readonly #context: CollectionContext;
  /** Each with whether it looks at once inside of what changes. */
  readonly #readers = new Map<LiveReader, boolean>();
  /** Keys of what changed in this batch; only kept while somebody reads. */
  #touched = new Set<string>();

  constructor(context: CollectionContext) {
    this.#context = context;
  }

  /** How many are read now. */
  get size(): number {
    return this.#readers.size;
  }

  /** Executes a request about a live query; a mayHang one is answered when all that it began is done. */
  perform(request: LiveRequest, reader: LiveReader | undefined): Result<undefined> {
    if (!reader) return undefined;
    if (request.op === 'liveNext') reader.next(request.mayHang === true);
    else if (request.op === 'liveEnd') reader.end();
    else {
      const { records, clock } = this.#context;
      const { spec, throttle, mayHang = false } = request;
      const result = this.#resultFor(spec);
      this.#readers.set(reader, spec.kind !== 'item' && !mayHang);
      const left = () => void this.#readers.delete(reader);
      reader.begin({ result, records, clock, throttle, mayHang, left });
    }
    return request.mayHang && reader.resting();
  }

  /** To be called with each change. */
  touch(key: string): void {
    if (this.#readers.size > 0) this.#touched.add(key);
  }

  /** To be called after a batch: tells what it changed, once. */
  settle(): void {
    if (this.#touched.size === 0) return;
    const keys = this.#touched;
    this.#touched = new Set();
    const looks = [...this.#readers.values()].includes(true);
    if (looks) this.#decode(keys);
    for (const reader of [...this.#readers.keys()]) reader.changed(keys);
    if (looks && !this.#context.settings.caching) this.#forget(keys);
  }

  /** Other records have taken the place of all. */
  reload(): void {
    this.#touched.clear();
    for (const reader of [...this.#readers.keys()]) reader.reload();
  }

  /** Ends all of them: the collection is no more. */
  fail(error: unknown): void {
    for (const reader of [...this.#readers.keys()]) reader.fail(error);
  }

  /** Decodes what changed once for all. */
  #decode(keys: ReadonlySet<string>): void {
    for (const key of keys) {
      const record = this.#context.records.get(key);
      if (record?.body !== undefined) record.value ??= peek(record.body);
    }
  }

  /** A collection that is not cached keeps nothing decoded. */
  #forget(keys: ReadonlySet<string>): void {
    for (const key of keys) {
      const record = this.#context.records.get(key);
      if (record) record.value = undefined;
    }
  }

  #resultFor(spec: LiveSpec): LiveResult {
    const { records, settings } = this.#context;
    switch (spec.kind) {
      case 'list':
        return new ListResult(this.#context, spec);
      case 'count':
        return new CountResult(this.#context, spec);
      case 'item': {
        const [key, ...path] =
          settings.type === 'DOCUMENT_BASED' ? [spec.key as string] : parseKey(spec.key);
        return new ItemResult(records, key, path);
      }
    }
  }
}
