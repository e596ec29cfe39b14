import { peek } from '../../codec/body.ts';
import type { StoreContext } from '../context.ts';
import { testFor } from '../document-view.ts';
import { parseKey } from '../key-path.ts';
import type { Request } from '../protocol.ts';
import { CountResult } from './count-result.ts';
import { ItemResult } from './item-result.ts';
import { ListResult } from './list-result.ts';
import type { LiveSpec } from './live-protocol.ts';
import type { LiveReader } from './live-reader.ts';
import type { LiveResult } from './live-result.ts';

/** The live queries of a collection, whoever reads them. */
export class LiveQueries {
  readonly #context: StoreContext;
  readonly #readers = new Set<LiveReader>();
  /** Keys of what changed in this batch; only kept while somebody reads. */
  #touched = new Set<string>();

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** How many are read now. */
  get size(): number {
    return this.#readers.size;
  }

  /** Executes a request about a live query. */
  perform(request: Request, reader: LiveReader): undefined {
    if (request.op === 'liveNext') reader.next();
    else if (request.op === 'liveEnd') reader.end();
    else if (request.op === 'live') {
      const { records, clock } = this.#context;
      const { spec, throttle } = request;
      const result = this.#resultFor(spec);
      this.#readers.add(reader);
      const left = () => void this.#readers.delete(reader);
      reader.begin({ result, records, clock, throttle, left });
    }
    return undefined;
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
    const decoded = this.#decode(keys);
    for (const reader of [...this.#readers]) reader.changed(keys);
    for (const record of decoded) record.value = undefined;
  }

  /** Ends all of them: the collection is no more. */
  fail(error: unknown): void {
    for (const reader of [...this.#readers]) reader.fail(error);
  }

  /** Decodes what changed once for all, where it would not stay decoded anyway. */
  #decode(keys: ReadonlySet<string>) {
    const { records, settings } = this.#context;
    if (settings.caching || settings.type !== 'DOCUMENT_BASED') return [];
    return Array.from(keys, (key) => records.get(key)).filter((record) => {
      if (record?.body === undefined || record.value !== undefined) return false;
      record.value = peek(record.body);
      return true;
    }) as { value: unknown }[];
  }

  #resultFor(spec: LiveSpec): LiveResult {
    const { records, settings } = this.#context;
    switch (spec.kind) {
      case 'list':
        return new ListResult(this.#context, spec);
      case 'count':
        return new CountResult(records, testFor(settings, spec));
      case 'item': {
        const [key, ...path] =
          settings.type === 'DOCUMENT_BASED' ? [spec.key as string] : parseKey(spec.key);
        return new ItemResult(records, key, path);
      }
    }
  }
}
