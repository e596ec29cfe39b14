/**
 * A place outside of the browser that keeps objects by path: `folder()`, `s3()`, `webdav()`, or one of your own. Paths
 * have `a-z`, `0-9`, `/`, `.`, `_` and `-` only, and name no collection and no document.
 *
 * `put` is all or nothing: `list` returns a path only once all of its bytes are there. `get` finds an object once its `put`
 * has resolved; `list` may lag behind. An error may be any; a `TargetError` says whether another attempt makes sense.
 */
export interface BackupTarget {
  /** Stores an object, in place of the one that is there. */
  put(path: string, bytes: Uint8Array): Promise<void>;
  /** The bytes of an object; `undefined` where there is none. */
  get(path: string): Promise<Uint8Array | undefined>;
  /** All paths that begin with the prefix, which ends in a slash, in any order. */
  list(prefix: string): Promise<string[]>;
  /** Removes an object, if it is there. */
  delete(path: string): Promise<void>;
}

/** A target that says where it is, without credentials: `s3:https://…`. */
export interface NamedTarget extends BackupTarget {
  readonly id: string;
}

/** The id of a target, where it has one. */
export function targetIdOf(target: BackupTarget): string | undefined {
  const { id } = target as Partial<NamedTarget>;
  return typeof id === 'string' ? id : undefined;
}

export function isTarget(value: unknown): value is BackupTarget {
  const target = (value ?? {}) as Record<string, unknown>;
  return ['put', 'get', 'list', 'delete'].every((name) => typeof target[name] === 'function');
}
