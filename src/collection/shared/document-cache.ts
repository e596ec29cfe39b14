import { type Body, decode } from '../../codec/body.ts';
import { deepFreeze } from '../../codec/deep-freeze.ts';
import { sameValue } from '../../codec/same-value.ts';
import { bodySize } from '../../codec/size.ts';
import type { DocumentBuilder } from '../../engine/protocol/managed.ts';
import type { SentVersions } from '../../engine/protocol/shared-protocol.ts';
import { documentAt } from '../find/documents.ts';

/** Characters of documents in a cache; the one before it is kept as well: 16 MB in all. */
export const CACHE_SIZE = 8 * 1024 * 1024;

/** Counted for a document beside its body: its managed fields, and its place in maps. */
const OVERHEAD = 100;

/** Numbered in the page: the cache of a handle that takes the place of another is not taken for that one's. */
let caches = 0;

interface Versions {
  readonly byNumber: Map<number, object>;
  /** By id, the newest that was taken in. */
  readonly byId: Map<string, object>;
}

/**
 * The frozen documents that a client has of an engine elsewhere, by version. It only grows: a full cache is replaced by an
 * empty one, and a request under way finds in its own what the reply leaves out.
 */
export class DocumentCache {
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
