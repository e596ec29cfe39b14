import type { FileHeader, FilePart } from '../backup/file/file-contents.ts';
import type { Leases } from '../backup/leases.ts';
import type { Snapshot } from '../backup/snapshot.ts';
import { SnapshotReader } from '../backup/snapshot-reader.ts';
import type { CollectionUsage } from '../backup/usage.ts';
import { storedSizes, usageOf } from '../backup/usage.ts';
import { BackupError } from '../errors/backup-error.ts';
import type { Durability, Storage } from '../storage/drivers/driver.ts';
import type { Manifest } from '../storage/log/manifest.ts';
import { listLive, listManifests } from '../storage/log/open-log.ts';
import type { PinnedCollection } from './backups/backup-requests.ts';
import { Exports } from './backups/exports.ts';
import { Imports } from './backups/imports.ts';
import type { SectionImport } from './backups/section-import.ts';
import type { HostedCollection } from './collections/hosted-collection.ts';
import type { Request } from './protocol/requests.ts';
import type { Clock } from './scheduling/clock.ts';

/** The engine, for requests about the whole database. */
export interface DatabaseHost {
  readonly storage: Storage;
  readonly durability: Durability;
  readonly clock: Clock;
  readonly holds: Leases;
  /** The collections that are open. */
  readonly open: () => Iterable<HostedCollection>;
  /** Opens a collection for as long as it is used, unless it is open. */
  readonly use: <T>(
    header: Pick<FileHeader, 'collection' | 'type'>,
    use: (collection: HostedCollection) => Promise<T>,
  ) => Promise<T>;
}

/** More backups than a database ever has. */
const ALL = 100_000;

/** Executes requests about the whole database. */
export class DatabaseRequests {
  readonly #host: DatabaseHost;
  readonly #exports = new Exports();
  readonly #imports = new Imports();
  /** Imports run one after the other: two could wait for each other's collections. */
  #importing: Promise<unknown> = Promise.resolve();

  constructor(host: DatabaseHost) {
    this.#host = host;
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
      default:
        throw new TypeError(`"${request.op}" is no operation of a database.`);
    }
  }

  async #export(): Promise<{ cursor: number }> {
    const open = new Map(Array.from(this.#host.open(), (one) => [one.settings.name, one]));
    const stored = (await this.#manifests()).filter(({ name }) => !open.has(name));
    const pinned = await Promise.allSettled([
      ...Array.from(open.values(), (one) => one.freeze()),
      ...stored.map((manifest) => this.#pin(manifest)),
    ]);
    const all = pinned.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    const release = () => {
      for (const one of all) one.release();
    };
    const failed = pinned.find((one) => one.status === 'rejected');
    if (failed) {
      release();
      throw failed.reason;
    }
    return this.#exports.begin(this.#sections(all), release);
  }

  async *#sections(all: readonly PinnedCollection[]): AsyncGenerator<FilePart, void> {
    for (const { header, segments } of all) {
      const reader = await SnapshotReader.open(this.#host.storage, header.collection, segments);
      yield* reader.section(header);
    }
  }

  /** Pins a collection that is not open. */
  async #pin(manifest: Manifest): Promise<PinnedCollection> {
    const { storage, holds, clock } = this.#host;
    const { name: collection } = manifest;
    const segments = await listLive(storage, collection, manifest);
    const type = manifest.type as FileHeader['type'];
    const header = { collection, type, options: {}, created_at: clock.now() };
    return { header, segments, release: holds.take(collection, segments) };
  }

  #import({ call, merge }: Request<'importAll'>): Promise<number> {
    this.#imports.expect(call);
    const importing = this.#importing.then(() => this.#readAll(call, merge));
    this.#importing = importing.catch(() => undefined);
    return importing.finally(() => this.#imports.forget(call));
  }

  #readAll(call: number, merge: boolean): Promise<number> {
    const names = new Set<string>();
    return this.#imports.run(call, {
      section: (header, read) => {
        const { collection: name } = header;
        if (names.has(name)) throw twice(name);
        names.add(name);
        return this.#host.use(header, (collection) =>
          collection.importSection(header, merge, read),
        );
      },
      commit: (all) => this.#commit(all),
    });
  }

  /** Makes all sections live, in one write. */
  async #commit(all: readonly SectionImport[]): Promise<void> {
    const { storage, durability } = this.#host;
    const operations = [];
    for (const { replacement } of all) operations.push(...(await replacement.operations()));
    try {
      await storage.write(operations, durability);
    } catch (error) {
      for (const { replacement } of all) replacement.failed();
      throw error;
    }
    for (const { replacement } of all) replacement.stored();
  }

  async #usage(): Promise<CollectionUsage[]> {
    const { storage } = this.#host;
    const range = { prefix: [], limit: ALL };
    const snapshots = (await storage.list('snapshots', range)) as Snapshot[];
    const manifests = await listManifests(storage);
    const open = new Map(Array.from(this.#host.open(), (one) => [one.settings.name, one]));
    const shown = manifests.filter(({ kept_until }) => kept_until === undefined);
    const usage = shown.map(async (manifest) => {
      const { name } = manifest;
      const own = snapshots.filter(({ collection }) => collection === name);
      // The list of an open collection is in memory; its stored one may change during the read.
      const one = open.get(name);
      const known = one?.records.log;
      const sizes = known?.exists ? known.segments : await storedSizes(storage, manifest);
      return { ...usageOf(name, sizes, own), cached_until: one?.cachedUntil };
    });
    return Promise.all(usage);
  }

  /** The manifests of stored collections. */
  async #manifests(): Promise<Manifest[]> {
    return (await listManifests(this.#host.storage)).filter(({ dropped }) => !dropped);
  }
}

function twice(name: string): BackupError {
  return new BackupError(
    'file_damaged',
    `The file holds collection "${name}" twice: Cairn did not write it so. Nothing was changed.`,
    { place: name },
  );
}
