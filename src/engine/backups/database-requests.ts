import { wait } from '../../async/coroutine.ts';
import { Mutex } from '../../async/mutex.ts';
import type { FileHeader, FilePart } from '../../backup/file/file-contents.ts';
import { isSnapshot } from '../../backup/named-snapshots.ts';
import { SnapshotReader } from '../../backup/snapshot-reader.ts';
import { leasesOf } from '../../backup/snapshots.ts';
import {
  type CollectionInfo,
  type CollectionUsage,
  countStored,
  storedSizes,
  usageOf,
} from '../../backup/usage.ts';
import { BackupError, type CairnError, type StorageError } from '../../errors/errors.ts';
import type { Request } from '../../protocol/requests.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import { isHidden } from '../../storage/collection-name.ts';
import { listLive, listManifests } from '../../storage/log/list-logs.ts';
import { writeTogether } from '../../storage/log/log-writes.ts';
import type { Manifest } from '../../storage/log/manifest.ts';
import type { EngineEnvironment } from '../collection-context.ts';
import type { RecordStore } from '../records/record-store.ts';
import type { PinnedCollection } from './backup-requests.ts';
import { Exports, readBeforeDrop } from './exports.ts';
import { Imports } from './imports.ts';
import { type Ending, type ReachedCollections, useCollection } from './removal.ts';
import type { SectionImport } from './section-import.ts';

/** An open collection, as requests about the whole database see it. */
interface DatabaseCollection {
  readonly settings: CollectionSettings;
  readonly availability: { readonly failed: boolean };
  readonly records: RecordStore;
  readonly lifecycle: Ending & { readonly cachedUntil: CollectionUsage['cached_until'] };
}

interface DatabaseCollections extends ReachedCollections<DatabaseCollection> {
  readonly usable: readonly DatabaseCollection[];
  readonly clearing: Promise<unknown>;
}

/** More backups than a database ever has. */
const ALL = 100_000;

export class DatabaseRequests {
  readonly #environment: EngineEnvironment;
  readonly #collections: DatabaseCollections;
  readonly #exports = new Exports();
  readonly #imports: Imports;
  readonly #reported = new Set<string>();
  readonly #importing = new Mutex();

  constructor(environment: EngineEnvironment, collections: DatabaseCollections) {
    this.#environment = environment;
    this.#collections = collections;
    this.#imports = new Imports(environment.clock);
  }

  async execute(request: Request): Promise<unknown> {
    switch (request.op) {
      case 'exportAll':
        return this.#export();
      case 'exportNext':
        return this.#exports.next(request.cursor);
      case 'exportEnd':
        return this.#exports.end(request.cursor);
      case 'importAll':
        return this.#import(request);
      case 'importPart':
        return this.#imports.push(request.call, request.part);
      case 'abort':
        return this.#imports.abort(request.call);
      case 'usage':
        return this.#usage();
      case 'collections':
        return this.#list();
      default:
        throw new TypeError(`"${request.op}" is no operation of a database.`);
    }
  }

  /** Resolves when the imports under way have ended; `undefined` where there are none. */
  get importing(): Promise<unknown> | undefined {
    return this.#importing.held;
  }

  async #export(): Promise<{ cursor: number }> {
    const open = this.#openByName();
    const manifests = await this.#listed((error) => {
      // All or nothing.
      throw error;
    });
    const stored = manifests.filter(({ name, dropped }) => !dropped && !open.has(name));
    const pinned = await Promise.allSettled([
      ...Array.from(open.values(), (one) => freeze(one)),
      ...stored.map((manifest) => this.#pin(manifest)),
    ]);
    const all = pinned.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    const release = () => {
      for (const { lease } of all) lease.release();
    };
    const failed = pinned.find((one) => one.status === 'rejected' && !wasDropped(one.reason));
    if (failed?.status === 'rejected') {
      release();
      throw failed.reason;
    }
    return this.#exports.begin(this.#sections(all), { release, why: async (error) => error });
  }

  async *#sections(all: readonly PinnedCollection[]): AsyncGenerator<FilePart, void> {
    const { storage } = this.#environment;
    for (const { header, lease } of all) {
      let isBegun = false;
      try {
        const reader = await SnapshotReader.open(storage, header.collection, lease.segments);
        for await (const part of readBeforeDrop(reader.section(header), lease)) {
          isBegun = true;
          yield part;
        }
      } catch (error) {
        const why = await lease.why(error);
        // Left out, if nothing of it is in the file yet.
        if (isBegun || !wasDropped(why)) throw why;
      }
    }
  }

  async #pin(manifest: Manifest): Promise<PinnedCollection> {
    const { storage, clock } = this.#environment;
    const { name: collection } = manifest;
    const segments: number[] = [];
    // Before storage is read: a drop tells those that have one.
    const lease = leasesOf(storage).take(collection, segments);
    try {
      segments.push(...(await listLive(storage, collection, manifest)));
    } catch (error) {
      lease.release();
      throw await lease.why(error);
    }
    const type = manifest.type as FileHeader['type'];
    const { version = 1 } = manifest;
    const header = { collection, type, options: { version }, created_at: clock.now() };
    return { header, lease };
  }

  #import({ call, merge }: Request<'importAll'>): Promise<number> {
    this.#imports.expect(call);
    const { order } = this.#collections;
    // What is being cleared up would wait for what the import holds.
    const importing = order.run(async () => {
      await this.#collections.clearing;
      return this.#readAll(call, merge);
    });
    this.#importing.hold(importing);
    return importing.finally(() => this.#imports.forget(call));
  }

  #readAll(call: number, merge: boolean): Promise<number> {
    const names = new Set<string>();
    return this.#imports.run(call, {
      section: (header, read) => {
        const { collection: name, type } = header;
        if (names.has(name)) throw twice(name);
        names.add(name);
        return useCollection(this.#collections, { name, type }, (collection) =>
          importSection(collection, header, merge, read),
        );
      },
      commit: (all) => this.#commit(all),
    });
  }

  /** Makes all sections live, in one write. */
  async #commit(all: readonly SectionImport[]): Promise<void> {
    const { storage, durability } = this.#environment;
    const writes = [];
    for (const { replacement } of all) writes.push(await replacement.prepare());
    await writeTogether((operations) => storage.write(operations, durability), writes);
  }

  async #usage(): Promise<(CollectionUsage & Pick<CollectionInfo, 'name' | 'backups'>)[]> {
    const { storage } = this.#environment;
    const range = { prefix: [], limit: ALL };
    const snapshots = (await storage.list('snapshots', range)).filter(isSnapshot);
    const manifests = await this.#listed();
    const open = this.#openByName();
    const shown = manifests.filter(({ kept_until }) => kept_until === undefined);
    const usage = shown.map(async (manifest) => {
      const { name } = manifest;
      const own = snapshots.filter(({ collection }) => collection === name);
      // The list of an open collection is in memory; its stored one may change during the read.
      const one = open.get(name);
      const known = one?.records.log;
      const sizes = known?.exists ? known.segments : await storedSizes(storage, manifest);
      const type = manifest.type as CollectionUsage['type'];
      const backups = own.length;
      return {
        ...usageOf(name, sizes, own),
        name,
        type,
        backups,
        cached_until: one?.lifecycle.cachedUntil,
      };
    });
    return Promise.all(usage);
  }

  async #list(): Promise<CollectionInfo[]> {
    const open = this.#openByName();
    const counts = new Map<string, number | undefined>();
    for (const [name, one] of open) counts.set(name, await countOf(one));
    const { storage } = this.#environment;
    const manifests = new Map((await this.#listed()).map((one) => [one.name, one]));
    const listed: CollectionInfo[] = [];
    for (const { name, type, bytes, backup_bytes, backups } of await this.#usage()) {
      const manifest = manifests.get(name);
      const documents = open.has(name) ? counts.get(name) : await countStored(storage, manifest);
      listed.push({ name, type, documents, bytes, backups, backup_bytes, open: open.delete(name) });
    }
    // What is not saved yet, or has lost its manifest.
    for (const [name, { settings }] of open) {
      const documents = counts.get(name);
      const stored = { bytes: 0, backups: 0, backup_bytes: 0 };
      if (documents !== 0)
        listed.push({ name, type: settings.type, documents, ...stored, open: true });
    }
    return listed.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #openByName(): Map<string, DatabaseCollection> {
    return new Map(this.#collections.usable.map((one) => [one.settings.name, one]));
  }

  /** The manifests of collections, dropped ones included. */
  async #listed(damaged = (error: StorageError): void => this.#report(error)): Promise<Manifest[]> {
    const all = await listManifests(this.#environment.storage, damaged);
    return all.filter(({ name }) => !isHidden(name));
  }

  /** Reports a collection without a readable manifest, once. */
  #report(error: StorageError): void {
    const { place = '' } = error;
    if (this.#reported.has(place)) return;
    this.#reported.add(place);
    this.#environment.events.reportError(error, place);
  }
}

/** Pins what a collection holds, for a file. Saves first. */
async function freeze({ lifecycle }: DatabaseCollection): Promise<PinnedCollection> {
  const { parts } = lifecycle;
  const { queue } = parts;
  // It may be opening.
  await queue.enter(false, () => undefined);
  await parts.sweep?.drain();
  return queue.enter(false, () => {
    lifecycle.context.availability.check();
    return wait(parts.withBackups((backups) => backups.freeze()));
  });
}

/**
 * Reads a collection of a file into the place of an open one, or on top of it, which executes
 * nothing else until `read` ends.
 */
async function importSection<T>(
  { availability, lifecycle }: DatabaseCollection,
  header: FileHeader,
  merge: boolean,
  read: (importing: SectionImport) => Promise<T>,
): Promise<T> {
  const { parts } = lifecycle;
  const { queue } = parts;
  queue.hasChanges = true;
  return queue.enter(true, () => {
    if (availability.failed) lifecycle.context.availability.check();
    return wait(parts.withBackups((backups) => backups.importSection(header, merge, read)));
  });
}

/** The number of documents or values once a collection is open; `undefined` of damaged data. */
async function countOf({ lifecycle, records }: DatabaseCollection): Promise<number | undefined> {
  const { availability } = lifecycle.context;
  return lifecycle.parts.queue.enter(false, () => (availability.error ? undefined : records.size));
}

function wasDropped(error: unknown): boolean {
  return (error as Partial<CairnError>).code === 'collection_dropped';
}

function twice(name: string): BackupError {
  return new BackupError(
    'file_damaged',
    `The file holds collection "${name}" twice. Nothing was changed.`,
    { place: name },
  );
}
