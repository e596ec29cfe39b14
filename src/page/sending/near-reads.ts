import { nextTurn } from '../../async/next-turn.ts';
import type { OperationContext } from '../../engine/collection-context.ts';
import { NearQueries } from '../../engine/near-queries.ts';
import { bodyAtHand } from '../../engine/records/scan.ts';
import { notInMemory } from '../../errors/errors.ts';
import { type DocumentBuilder, documentBuilder } from '../../protocol/managed.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import { QuestionReader } from '../../query/plan/read-question.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import { buildFrom } from './documents.ts';
import type { SharedDocuments } from './shared-documents.ts';

/** Documents made in one turn: some 3 ms. */
const SLICE = 1000;

/** The channel of a handle. */
interface NearChannel {
  readonly client: { near(handle: number): object };
  readonly handle: number;
  readonly shared: SharedDocuments | undefined;
  readonly started: string | undefined;
}

/**
 * Reads without promises, of an engine in this thread: they look into its records, and no request
 * is made of them. What they cannot read, such as queries with functions or patterns, goes the way
 * of other calls. docs/decisions/033-shared-documents.md has the figures.
 */
export class NearReads {
  readonly #channel: NearChannel;
  readonly #build: DocumentBuilder;
  readonly #reader = new QuestionReader();
  #queries: NearQueries | undefined;

  constructor(channel: NearChannel, settings: CollectionSettings) {
    this.#channel = channel;
    this.#build = documentBuilder(settings);
  }

  /**
   * Makes the shared documents of all records, between the tasks of the page: to decode one takes
   * ten times as long as to find it. Ends early with the engine; a read makes what is missing.
   */
  async prepare(): Promise<void> {
    const { shared } = this.#channel;
    if (!shared) return;
    const records = this.#context().records.list();
    for (let from = 0; from < records.length; from += SLICE) {
      await nextTurn();
      if (this.#channel.started !== 'thread') return;
      for (const record of records.slice(from, from + SLICE))
        if (record.body !== undefined) shared.of(record, record.body);
    }
  }

  get(id: string): object | undefined {
    const record = this.#context().records.get(id);
    return record && this.#documentOf(record);
  }

  getMany(ids: readonly string[]): (object | undefined)[] {
    const { records } = this.#context();
    return ids.map((id) => {
      const record = records.get(id);
      return record && this.#documentOf(record);
    });
  }

  /** @param most How many are wanted. @returns `undefined` for a query that it cannot read. */
  filter(params: unknown, options: unknown, most = Number.POSITIVE_INFINITY): object[] | undefined {
    const question = this.#reader.read(params, options, most);
    if (!question) return undefined;
    const records = this.#answering().records(question);
    const documents: object[] = [];
    for (let at = 0; at < records.length; at++) {
      documents.push(this.#documentOf(records[at] as StoredRecord));
    }
    return documents;
  }

  /** @returns `undefined` for a query that it cannot read. */
  count(params: unknown, options: unknown): number | undefined {
    const question = this.#reader.read(params, options, Number.POSITIVE_INFINITY);
    return question && this.#answering().count(question);
  }

  #answering(): NearQueries {
    const context = this.#context();
    if (this.#queries?.context !== context) this.#queries = new NearQueries(context);
    return this.#queries;
  }

  /** @throws {CollectionError} `sync_unavailable`, or why the collection cannot be read. */
  #context(): OperationContext {
    const { client, handle } = this.#channel;
    return client.near(handle) as OperationContext;
  }

  #documentOf(record: StoredRecord): object {
    const { body } = record;
    if (body === undefined) throw cacheCleared();
    const { shared } = this.#channel;
    if (shared) return shared.of(record, body);
    const { key, flags, stamps } = record;
    return buildFrom(this.#build, key, flags, stamps, bodyAtHand(record, body));
  }
}

function cacheCleared(): Error {
  return notInMemory(undefined, 'the cache was cleared; await collection.ready first');
}
