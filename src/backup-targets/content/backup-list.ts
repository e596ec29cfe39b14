import { BackupError } from '../../errors/errors.ts';
import { inParallel, type TargetCalls, TargetError } from '../calls/target-calls.ts';
import { bytesOfBackup, readTargetManifest, type TargetManifest } from './target-manifest.ts';
import { backupsPrefix, manifestPath, parseManifestPath, timeOf } from './target-paths.ts';

/** Where a backup is. */
export interface BackupPath {
  readonly name: string;
  readonly device: string;
}

/** A backup in a target. */
export interface TargetBackup extends BackupPath {
  readonly created_at: Date;
  /** Documents of all collections. */
  readonly documents: number;
  /** Its size before compression, with what it shares with others. */
  readonly bytes: number;
  /** Whether this device made it. */
  readonly own: boolean;
  /** Why it cannot be read; the counts are 0 then. */
  readonly problem: TargetError | undefined;
}

/** Whether something is wrong with one backup, not with the target. */
export function isFileOfBackup(error: unknown): error is TargetError {
  const codes = ['target_damaged', 'target_foreign', 'target_newer'];
  return error instanceof TargetError && codes.includes(error.code);
}

/** The backups of a database in a target. Their manifests never change, and are read once. */
export class BackupList {
  readonly #calls: TargetCalls;
  readonly #database: string;
  readonly #known: Map<string, TargetManifest>;
  /** Paths of backups that exist, as a list has said or the caller. */
  readonly #seen = new Set<string>();

  /** @param known Manifests by path, which the caller keeps for the next list. */
  constructor(
    calls: TargetCalls,
    database: string,
    known: Map<string, TargetManifest> = new Map(),
  ) {
    this.#calls = calls;
    this.#database = database;
    this.#known = known;
  }

  /** Newest first. @param device Left out: of all devices. */
  async paths(device?: string): Promise<BackupPath[]> {
    const paths = await this.#calls.list(backupsPrefix(this.#database, device));
    const found = paths.flatMap((path) => parseManifestPath(path) ?? []);
    for (const path of found) this.expect(path);
    return found.sort((a, b) => (a.name < b.name ? 1 : -1));
  }

  /** Says that a backup exists, whether the target lists it or not. */
  expect({ device, name }: BackupPath): void {
    this.#seen.add(manifestPath(this.#database, device, name));
  }

  /** Whether a list of the backups of a device lacks one that exists. */
  lacksAny(paths: readonly BackupPath[], device: string): boolean {
    const prefix = backupsPrefix(this.#database, device);
    const listed = new Set(paths.map(({ name }) => manifestPath(this.#database, device, name)));
    return [...this.#seen].some((path) => path.startsWith(prefix) && !listed.has(path));
  }

  /** @throws {TargetError} as `readManifest`; `target_damaged` where it is gone. */
  async read({ device, name }: BackupPath): Promise<TargetManifest> {
    const path = manifestPath(this.#database, device, name);
    const known = this.#known.get(path);
    if (known) return known;
    const bytes = await this.#calls.get(path);
    if (!bytes)
      throw new TargetError('target_damaged', `The backup ${path} is gone. List them again.`, {
        place: path,
      });
    const manifest = await readTargetManifest(bytes, path);
    this.#known.set(path, manifest);
    return manifest;
  }

  /** All backups, newest first, damaged ones too. */
  async describe(own: string): Promise<TargetBackup[]> {
    return inParallel(await this.paths(), async (path) => {
      const read = await this.tryRead(path);
      const isRead = !(read instanceof TargetError);
      return {
        ...{ name: path.name, device: path.device, own: path.device === own },
        created_at: new Date(isRead ? read.created_at : timeOf(path.name)),
        documents: isRead ? read.documents : 0,
        bytes: isRead ? bytesOfBackup(read) : 0,
        problem: isRead ? undefined : read,
      };
    });
  }

  /** @throws {BackupError} `backup_unknown` */
  async find(name: string | undefined): Promise<BackupPath> {
    const paths = await this.paths();
    const found = name === undefined ? paths[0] : paths.find((path) => path.name === name);
    if (found) return found;
    const names = paths.slice(0, 10).map((path) => path.name);
    throw new BackupError(
      'backup_unknown',
      `The target has no backup ${name === undefined ? '' : `"${name}" `}of this database. ` +
        (names.length > 0 ? `There are: ${names.join(', ')}.` : 'There are none.'),
      { place: name },
    );
  }

  /** The manifests of a device that this page has read or written, whether listed or not. */
  known(device: string): TargetManifest[] {
    const prefix = backupsPrefix(this.#database, device);
    return [...this.#known].flatMap(([path, known]) => (path.startsWith(prefix) ? known : []));
  }

  forget({ device, name }: BackupPath): void {
    const path = manifestPath(this.#database, device, name);
    this.#known.delete(path);
    this.#seen.delete(path);
  }

  /** Only what is wrong with this one backup: a target that cannot be reached fails all of it. */
  async tryRead(path: BackupPath): Promise<TargetManifest | TargetError> {
    try {
      return await this.read(path);
    } catch (error) {
      if (isFileOfBackup(error)) return error;
      throw error;
    }
  }
}
