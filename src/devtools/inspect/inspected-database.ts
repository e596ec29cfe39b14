import type { StorageUse } from '../../api/options/client-options.ts';
import { parseCollation } from '../../api/options/collation.ts';
import { OptionError } from '../../errors/errors.ts';
import type { DatabaseClient } from '../../page/client/database-client.ts';
import type { CollectionOwner } from '../../page/collections/collection-owner.ts';
import type { DocumentCollection } from '../../page/collections/document-collection.ts';
import type { KeyValueCollection } from '../../page/collections/key-value-collection.ts';
import type { Inspection } from '../../page/inspection/inspection.ts';
import { INSPECTION, type LiveActivity } from '../../page/sending/observed-call.ts';
import type { IndexDefinition, SpecialIndex } from '../../query/index/index-definition.ts';
import type { VectorSettings } from '../../query/vector/vector-of.ts';
import { ActivityLog } from './activity-log.ts';
import { QueryLog } from './query-log.ts';

type Documents = DocumentCollection;
type KeyValues = KeyValueCollection;

/**
 * A database: `connect(…)` or `new Database(…)`. By its shape, not by its class: the types of this
 * entry are a copy of those of the library.
 */
export interface DevtoolsDatabase {
  readonly name: string;
  readonly storage: object;
  exportAll(): Promise<ReadableStream<Uint8Array>>;
  close(): Promise<void>;
}

/** The answer of `storage.estimate()` is used again so long while nothing was saved. */
const KEPT_MS = 10_000;

export interface CollectionEntry {
  readonly name: string;
  readonly type: 'DOCUMENT_BASED' | 'KEY_VALUE_BASED';
  /** Whether a handle of this page has it open. */
  readonly isOpen: boolean;
  readonly bytes: number;
  readonly backup_bytes: number;
}

export interface SpecialIndexEntry {
  readonly collection: string;
  readonly index: string;
  /** Resolves once it is built. Makes what searches need. */
  size(): Promise<SpecialIndexSize>;
}

export interface SpecialIndexSize {
  readonly documents: number;
  readonly words: number | undefined;
  readonly bytes: number;
}

/** A database as the devtools see it. They use the handles of the app, and open none themselves. */
export class InspectedDatabase {
  readonly db: DatabaseClient;
  readonly activity: ActivityLog;
  readonly queries: QueryLog;
  readonly #inspection: Inspection;
  readonly #own: object[] = [];
  #use: { version: string; at: number; estimate: Promise<StorageUse> } | undefined;

  private constructor(db: DatabaseClient, inspection: Inspection) {
    this.db = db;
    this.#inspection = inspection;
    this.activity = new ActivityLog(db);
    this.queries = new QueryLog(this, inspection);
  }

  /**
   * Resolves once the code of the database is loaded. @throws {OptionError} if it is no database of
   * Cairn.
   */
  static async of(given: DevtoolsDatabase): Promise<InspectedDatabase> {
    return new InspectedDatabase(given as DatabaseClient, await inspectionOf(given));
  }

  get lives(): readonly LiveActivity[] {
    return [...this.#inspection.lives];
  }

  /** The app's newest handle of a collection. */
  handle(name: string): Documents | KeyValues | undefined {
    return this.#opened(name)?.collection as Documents | KeyValues | undefined;
  }

  documents(name: string): Documents | undefined {
    const handle = this.handle(name);
    return handle?.type === 'DOCUMENT_BASED' ? (handle as Documents) : undefined;
  }

  /** Hides a call from observers by its options: it is the devtools' own. */
  hide<Options extends object>(options: Options): Options {
    this.#inspection.hidden.add(options);
    return options;
  }

  /** The fields of whole indexes in a collation that handles of this page declare. */
  indexesOf(name: string, given?: unknown): readonly (readonly string[])[] {
    const collation = parseCollation(given, 'collation');
    return this.#inspection.handles.flatMap(({ settings }) =>
      settings.name === name
        ? settings.indexes.flatMap((one) =>
            one.collation !== collation || one.where || one.special ? [] : [one.fields],
          )
        : [],
    );
  }

  /** The indexes of words and vectors that handles of this page declare, and how large they are. */
  specialIndexes(): SpecialIndexEntry[] {
    const entries = new Map<string, SpecialIndexEntry>();
    for (const { settings } of this.#inspection.handles)
      for (const definition of settings.indexes) {
        const collection = this.documents(settings.name);
        const { special } = definition;
        if (!special || !collection) continue;
        const entry = { collection: settings.name, index: textOf(definition) };
        const size = () => sizeOf(collection, special, this.hide({}));
        entries.set(JSON.stringify(entry), { ...entry, size });
      }
    return [...entries.values()];
  }

  /** All indexes that handles of this page declare, as a text. */
  indexText(name: string): string {
    const own = this.#inspection.handles.filter(({ settings }) => settings.name === name);
    const all = own.flatMap(({ settings }) => settings.indexes.map(textOf));
    return all.length > 0 ? `Indexes: ${[...new Set(all)].join('; ')}.` : 'No indexes.';
  }

  /** What the database stores, asked for no more often than it changes. */
  estimate(): Promise<StorageUse> {
    const { changes } = this.activity;
    const { length: handles } = this.#inspection.handles;
    const version = `${changes} ${handles} ${this.db.status.state}`;
    const now = performance.now();
    if (this.#use?.version === version && now - this.#use.at < KEPT_MS) return this.#use.estimate;
    const estimate = this.db.storage.estimate();
    this.#use = { version, at: now, estimate };
    estimate.catch(() => {
      this.#use = undefined;
    });
    return estimate;
  }

  /** The stored collections and those of this page, by name. Opens the database. */
  async collections(): Promise<CollectionEntry[]> {
    const { collections } = await this.estimate();
    const entries = new Map<string, CollectionEntry>();
    for (const { settings } of this.#inspection.handles) {
      const { name, type } = settings;
      entries.set(name, { name, type, isOpen: true, bytes: 0, backup_bytes: 0 });
    }
    for (const { collection: name, type, bytes, backup_bytes } of collections) {
      const isOpen = entries.has(name);
      entries.set(name, { name, type, isOpen, bytes, backup_bytes });
    }
    return [...entries.values()].sort((a, b) => a.name.localeCompare(b.name));
  }

  /**
   * Opens a collection that no handle of this page has open. Its options are the defaults then, and
   * stay so until the engine is started anew: ask the user first.
   */
  async open({ name, type }: CollectionEntry): Promise<void> {
    const collection = new this.db.Collection({ name, type });
    this.#own.push(collection);
    await collection.ready;
  }

  close(): void {
    this.activity.close();
    this.queries.close();
  }

  #opened(name: string) {
    return this.#inspection.handles.findLast(({ settings }) => settings.name === name);
  }
}

/**
 * The live queries that run in this page now: their query, status, documents, and how often they
 * emitted.
 *
 * @throws {OptionError} if it is no database of Cairn.
 */
export async function liveQueriesOf(database: DevtoolsDatabase): Promise<readonly LiveActivity[]> {
  return [...(await inspectionOf(database)).lives];
}

async function inspectionOf(database: DevtoolsDatabase): Promise<Inspection> {
  const runtime = await (database as Partial<CollectionOwner>).loadRuntime?.();
  const inspection = runtime?.[INSPECTION];
  if (inspection) return inspection;
  const message =
    'The devtools take a database: connect(…) or new Database(…), of the same version.';
  throw new OptionError('option_invalid', message, { place: 'database' });
}

async function sizeOf(
  collection: Documents,
  special: SpecialIndex,
  options: object,
): Promise<SpecialIndexSize> {
  if (special.part === 'search') return (await collection.explainSearch('', options)).postings;
  const { path, dimensions } = special.options as VectorSettings;
  const asked = Object.assign(options, { path, k: 1, exact: true });
  const { vectors } = await collection.explainNearest(Array(dimensions).fill(1), asked);
  return { documents: vectors, words: undefined, bytes: vectors * dimensions * 4 };
}

function textOf({ name, fields, unique, multi, special }: IndexDefinition): string {
  if (special?.part === 'search') return `words of ${fields.join(', ')}`;
  if (special) {
    const { path, dimensions, metric } = special.options as VectorSettings;
    return `vectors of ${path} (${dimensions} numbers, ${metric})`;
  }
  const marks = [unique && 'unique', multi && 'multi'].filter(Boolean).join(', ');
  return marks ? `${name} (${marks})` : name;
}
