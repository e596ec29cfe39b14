import { type Body, peek } from '../../codec/body.ts';
import { decode } from '../../codec/capture.ts';
import { deepFreeze } from '../../codec/deep-freeze.ts';
import { sameValue } from '../../codec/same-value.ts';
import { bodySize } from '../../codec/size.ts';
import type { ListPart } from '../../protocol/live-protocol.ts';
import { type DocumentBuilder, documentBuilder } from '../../protocol/managed.ts';
import type { FoundVersions, SentVersions, SharedAsk } from '../../protocol/requests.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';
import { documentAt } from './documents.ts';

/** The part of a request that asks for shared documents, and what reads its reply. */
interface SharedReading {
  readonly ask: SharedAsk;
  readonly take: (reply: FoundVersions | SentVersions) => (object | undefined)[];
}

/**
 * The documents that all readers of a collection share: deeply frozen, the same object until the
 * document changes.
 *
 * An engine in this thread answers with its records, and each record keeps its document. Otherwise
 * they are in a cache here. docs/decisions/033-shared-documents.md has the reasons.
 */
export class SharedDocuments {
  readonly #build: DocumentBuilder;
  /** Whether the documents of records stay for as long as these. */
  readonly #caching: boolean;
  #cache: DocumentCache;
  #received: number[] = [];
  /** Records of an uncached collection that have a document, and those before. */
  #held: StoredRecord[] = [];
  #heldBefore: StoredRecord[] = [];
  #heldSize = 0;

  constructor(settings: CollectionSettings) {
    this.#build = documentBuilder(settings);
    this.#caching = settings.caching;
    this.#cache = new DocumentCache(this.#build);
  }

  /** Must be called for each request that asks for shared documents. */
  reading(): SharedReading {
    const cache = this.#makeRoom();
    const received = this.#received;
    this.#received = [];
    return {
      ask: { cache: cache.number, received },
      take: (reply) => {
        if ('records' in reply) return this.#takeRecords(reply);
        const documents = cache.take(reply);
        if (cache === this.#cache) this.#received.push(reply.reply);
        return documents;
      },
    };
  }

  of(record: StoredRecord, body: Body): object {
    return record.shared ?? this.#make(record, body);
  }

  /** The document of a live query's update. */
  ofPart(part: ListPart, index: number): object {
    const record = part.records?.[index];
    const body = part.bodies[index] as Body;
    if (record) return this.of(record, body);
    const document = documentAt(this.#build, part, index, decode(body) as object);
    return this.#makeRoom().keep(part.keys[index] as string, document, body);
  }

  /** The cache, or the next one where it is full. */
  #makeRoom(): DocumentCache {
    if (this.#cache.isFull) this.#cache = new DocumentCache(this.#build, this.#cache);
    return this.#cache;
  }

  #takeRecords({ records, bodies }: FoundVersions): (object | undefined)[] {
    return records.map((record, index) => record && this.of(record, bodies[index] as Body));
  }

  #make(record: StoredRecord, body: Body): object {
    const { key, flags, stamps } = record;
    // What the engine has decoded is shared as well: the document consists of the same objects.
    if (typeof body === 'string' && this.#caching) record.value ??= peek(body);
    const fields = typeof body === 'string' ? (record.value ?? peek(body)) : decode(body);
    const document = deepFreeze(this.#build(key, flags, stamps, fields as object));
    record.shared = document;
    if (!this.#caching) this.#hold(record, bodySize(body));
    return document;
  }

  /** Bounds the documents of an uncached collection, as the cache is. */
  #hold(record: StoredRecord, size: number): void {
    this.#held.push(record);
    this.#heldSize += size;
    if (this.#heldSize < CACHE_SIZE) return;
    for (const each of this.#heldBefore) each.shared = undefined;
    this.#heldBefore = this.#held;
    this.#held = [];
    this.#heldSize = 0;
  }
}

/** Characters of documents in a cache; the one before it is kept as well: 16 MB in all. */
export const CACHE_SIZE = 8 * 1024 * 1024;

/** Counted for a document beside its body: its managed fields, and its place in maps. */
const OVERHEAD = 100;

/**
 * Numbered in the page: the cache of a handle that takes the place of another is not taken for that
 * one's.
 */
let caches = 0;

interface Versions {
  readonly byNumber: Map<number, object>;
  /** By id, the newest that was taken in. */
  readonly byId: Map<string, object>;
}

/**
 * The frozen documents that a client has of an engine elsewhere, by version. It only grows: a full
 * cache is replaced by an empty one, and a request under way finds in its own what the reply leaves
 * out.
 */
class DocumentCache {
  readonly number: number;
  readonly #build: DocumentBuilder;
  readonly #versions: Versions = { byNumber: new Map(), byId: new Map() };
  #before: Versions | undefined;
  #size = 0;

  constructor(build: DocumentBuilder, before?: DocumentCache) {
    this.#build = build;
    this.number = ++caches;
    if (!before) return;
    this.#before = before.#versions;
    before.#before = undefined;
  }

  get isFull(): boolean {
    return this.#size > CACHE_SIZE;
  }

  /** The documents of a reply, `undefined` where there is none. */
  take({ versions, places, columns, bodies }: SentVersions): (object | undefined)[] {
    for (const [index, place] of places.entries()) {
      const version = versions[place] as number;
      const body = bodies[index] as Body;
      if (this.#versions.byNumber.has(version)) continue;
      const known = this.#before?.byNumber.get(version);
      const document = known ?? documentAt(this.#build, columns, index, decode(body) as object);
      this.#versions.byNumber.set(
        version,
        this.keep(columns.keys[index] as string, document, body),
      );
    }
    return Array.from(versions, (version) => this.#versions.byNumber.get(version));
  }

  /** The document that readers share in the place of this one: the newest, if it is equal. */
  keep(id: string, document: object, body: Body): object {
    const newest = this.#versions.byId.get(id) ?? this.#before?.byId.get(id);
    const shared = newest && sameValue(newest, document) ? newest : deepFreeze(document);
    this.#versions.byId.set(id, shared);
    this.#size += OVERHEAD + bodySize(body);
    return shared;
  }
}
