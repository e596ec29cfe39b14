import { asArray, asInteger, asString } from '../../codec/exact-json/json-checks.ts';
import { Malformed } from '../../errors/errors.ts';
import { inParallel, type TargetCalls } from '../calls/target-calls.ts';
import { isFileOfBackup } from './backup-list.ts';
import { readHashed, writeHashed } from './target-manifest.ts';
import { newBackupName, notesPrefix } from './target-paths.ts';

const FORMAT_NAME = 'cairn-target-note';

const FORMAT_NUMBER = 1;

/** What a device has found out about its objects in a target. */
export interface TargetNote {
  /** Unix time in milliseconds. */
  readonly created_at: number;
  /** Paths that no backup needed then. */
  readonly unused: readonly string[];
  /** Paths of parts that were not what was stored. */
  readonly damaged: readonly string[];
}

export interface StoredNote extends TargetNote {
  readonly path: string;
  /** Whether the target lists it; else this page has written it, or another one has removed it. */
  readonly isListed: boolean;
}

/**
 * The notes of a device, which outlive its pages. They never change, and are read once.
 * docs/decisions/044-backup-targets.md says why no list is believed alone.
 */
export class TargetNotes {
  readonly #calls: TargetCalls;
  readonly #prefix: string;
  readonly #known: Map<string, TargetNote>;

  /** @param known Notes by path, which the caller keeps for the next time. */
  constructor(
    calls: TargetCalls,
    database: string,
    device: string,
    known: Map<string, TargetNote>,
  ) {
    this.#calls = calls;
    this.#prefix = notesPrefix(database, device);
    this.#known = known;
  }

  /** Those that are listed, and those that this page knows of. */
  async read(): Promise<StoredNote[]> {
    const listed = await this.paths();
    await inParallel(
      listed.filter((path) => !this.#known.has(path)),
      async (path) => {
        const note = await this.#get(path);
        if (note) this.#known.set(path, note);
      },
    );
    return [...this.#known].flatMap(([path, note]) =>
      path.startsWith(this.#prefix) ? { ...note, path, isListed: listed.includes(path) } : [],
    );
  }

  paths(): Promise<string[]> {
    return this.#calls.list(this.#prefix);
  }

  async add(note: TargetNote, random: () => number): Promise<void> {
    const path = `${this.#prefix}${newBackupName(note.created_at, random)}.json`;
    const fields = { format: FORMAT_NAME, format_number: FORMAT_NUMBER };
    await this.#calls.put(path, await writeHashed({ ...fields, ...note }));
    this.#known.set(path, note);
  }

  async remove(path: string): Promise<void> {
    await this.#calls.delete(path);
    this.#known.delete(path);
  }

  /** @returns `undefined` for one that cannot be read: what it says is found out again. */
  async #get(path: string): Promise<TargetNote | undefined> {
    try {
      const bytes = (await this.#calls.get(path)) ?? new Uint8Array();
      const fields = await readHashed(bytes, FORMAT_NAME);
      if (fields?.format_number !== FORMAT_NUMBER) return undefined;
      return {
        created_at: asInteger(fields.created_at, '"created_at"', 0),
        unused: asArray(fields.unused, '"unused"').map((it) => asString(it, 'a path')),
        damaged: asArray(fields.damaged, '"damaged"').map((it) => asString(it, 'a path')),
      };
    } catch (error) {
      const isUnreadable = error instanceof Malformed || error instanceof SyntaxError;
      if (isUnreadable || isFileOfBackup(error)) return undefined;
      throw error;
    }
  }
}
