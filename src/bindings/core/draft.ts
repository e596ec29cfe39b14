import type { OwnFields, Stamp, Stored } from '../../api/document-types.ts';
import { capture, draftMark } from '../../codec/capture.ts';
import { deepFreeze } from '../../codec/deep-freeze.ts';
import { isManaged } from '../../storage/segments/stored-record.ts';
import type { LiveResult, Running } from './hook-result.ts';
import { keyOf } from './query-of.ts';

/** A document in a form: what the user changed, over the live document. */
export interface DraftResult<T extends object, S extends Stamp = never> {
  /**
   * The live document with the user's changes; `undefined` until it is there. Frozen: change it by
   * `set`.
   */
  readonly draft: Stored<T, S> | undefined;
  /** Of the live document, as in {@link LiveResult}. */
  readonly status: LiveResult<unknown>['status'];
  /** Why the last `save()` failed, or the error of the live document. */
  readonly error: Error | undefined;
  /** Whether a changed field differs from the live document. */
  readonly is_dirty: boolean;
  /**
   * Fields that both the user and somebody else have changed, to different values. `save()` stores
   * the user's.
   */
  readonly conflicts: readonly (keyof OwnFields<T>)[];
  readonly is_saving: boolean;
  /**
   * Changes fields of the draft, to copies of these values. One that equals the live document is no
   * change, nor what a spread has of the draft: `set({ ...draft, title })` changes the title,
   * whatever others have changed since that draft was read.
   */
  readonly set: (changes: Partial<OwnFields<T>>) => void;
  /**
   * Stores the changed fields, no others, by `patch`. What the user changes meanwhile stays a
   * draft. A failure is in `error` too, so an event handler may drop the promise.
   *
   * @returns the document; `undefined` if it was deleted: then the draft stays.
   */
  readonly save: () => Promise<Stored<T, S> | undefined>;
  /** Drops the changes. */
  readonly reset: () => void;
}

type Fields = Record<string, unknown>;

interface Change {
  readonly value: unknown;
  /** What the live document had in the field when the user began; left out if it was not there. */
  readonly base?: unknown;
}

/** A draft that somebody may have spread. docs/decisions/025-bindings.md has the reasons. */
interface HandedOut {
  readonly draft: Fields;
  readonly data: Fields;
  /** How many saves had succeeded. */
  readonly saves: number;
}

export function draftOf<T extends object, S extends Stamp>(
  live: Running<LiveResult<Stored<T, S> | undefined>>,
  patch: (fields: Fields) => Promise<Stored<T, S> | undefined>,
): Running<DraftResult<T, S>> {
  let changes = new Map<string, Change>();
  /** What the newest save of each field has stored, with its number. */
  const saved = new Map<string, { readonly value: unknown; readonly save: number }>();
  /** By what is spread with them. */
  const handedOut = new WeakMap<object, HandedOut>();
  let saves = 0;
  let saving = 0;
  let failure: Error | undefined;
  let notify: (() => void) | undefined;
  /** The live result that `view` shows; `undefined` after a change of the draft. */
  let from: unknown;

  /** The changes that differ from a document. */
  const unlike = (document: object | undefined) =>
    [...changes].filter(([name, { value }]) => !isEqual(value, (document as Fields)?.[name]));

  const change = (next: typeof changes) => {
    changes = next;
    from = undefined;
    notify?.();
  };

  const save = async () => {
    const { data } = live.view();
    // One that is set back may differ from what is on its way.
    const differing = saving > 0 ? [...changes] : unlike(data);
    const sent = valuesOf(differing);
    saving += 1;
    failure = undefined;
    change(new Map(differing));
    try {
      const stored = differing.length > 0 ? await patch(sent) : data;
      if (!stored) return stored;
      saves += 1;
      for (const [name, value] of Object.entries(sent)) saved.set(name, { value, save: saves });
      // What the user changed again meanwhile stays.
      const again = ([name, own]: [string, Change]): [string, Change] =>
        Object.hasOwn(sent, name) ? [name, { ...own, base: sent[name] }] : [name, own];
      changes = new Map(unlike(sent).map(again));
      return stored;
    } catch (error) {
      failure = error as Error;
      throw error;
    } finally {
      saving -= 1;
      change(changes);
    }
  };

  /** What the caller of `set` has seen of the live document in a field. */
  const baseOf = (name: string, data: Fields | undefined, read: HandedOut | undefined) => {
    const own = saved.get(name);
    if (own && read && read.saves < own.save) return { base: own.value };
    return data && { base: (read?.data ?? data)[name] };
  };

  const methods = {
    set: (given: object) => {
      const { data } = live.view() as { data: Fields | undefined };
      // A spread of a draft names all fields: what it had is no change, whatever has changed since.
      const read = handedOut.get((given as { [draftMark]: object })[draftMark]);
      const next = new Map(changes);
      for (const [name, value] of Object.entries(given)) {
        if (isManaged(name) || (read && isEqual(value, read.draft[name]))) continue;
        const before = changes.get(name);
        if (data && saving === 0 && isEqual(value, data[name])) next.delete(name);
        else if (!before || !isEqual(value, before.value))
          next.set(name, { ...(before ?? baseOf(name, data, read)), value: copyOf(value) });
      }
      change(next);
    },
    save: () => {
      const pending = save();
      // The failure is in `error`: an event handler may drop the promise.
      pending.catch(() => undefined);
      return pending;
    },
    reset: () => {
      failure = undefined;
      change(new Map());
    },
  };
  const viewOf = ({ data, status, error }: LiveResult<Stored<T, S> | undefined>) => {
    // A function: the states of frameworks would wrap an object, which then is another.
    const mark = () => undefined;
    const fields = valuesOf(changes);
    const draft = data && Object.freeze({ ...data, ...fields, [draftMark]: mark });
    if (draft) handedOut.set(mark, { draft, data: data as Fields, saves });
    const differing = unlike(data);
    const isConflict = ([name, own]: [string, Change]) =>
      data && 'base' in own && !isEqual(own.base, (data as Fields)[name]);
    return {
      draft: draft as Stored<T, S> | undefined,
      status,
      error: failure ?? error,
      is_dirty: differing.length > 0,
      is_saving: saving > 0,
      conflicts: saving > 0 ? [] : (differing.filter(isConflict).map(([name]) => name) as never),
      ...methods,
    };
  };
  let view: DraftResult<T, S>;

  return {
    key: `draft ${live.key}`,
    subscribe: (listener) => {
      notify = listener;
      return live.subscribe(listener);
    },
    view: () => {
      const now = live.view();
      if (now !== from) {
        from = now;
        view = viewOf(now);
      }
      return view;
    },
  };
}

const valuesOf = (changes: Iterable<[string, Change]>): Fields =>
  Object.fromEntries(Array.from(changes, ([name, { value }]) => [name, value]));

/** Later changes of the caller's value have no effect. */
function copyOf(value: unknown): unknown {
  try {
    return deepFreeze(capture(value, 'changes').copy);
  } catch {
    // `save` tells why it cannot be stored.
    return value;
  }
}

function isEqual(a: unknown, b: unknown): boolean {
  try {
    return keyOf(a) === keyOf(b);
  } catch {
    // With a cycle: the document cannot have it. `patch` tells so.
    return false;
  }
}
