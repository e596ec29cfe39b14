import { capture } from '../../codec/capture.ts';
import type { OwnFields, Stamp, Stored } from '../../collection/document-types.ts';
import { keyOf } from './canonical-key.ts';
import type { LiveResult, Running } from './hook-result.ts';

/** A document in a form: what the user changed, over the live document. */
export interface DraftResult<T extends object, S extends Stamp = never> {
  /** The live document with the user's changes; `undefined` until it is there. Frozen: change it by `set`. */
  readonly draft: Stored<T, S> | undefined;
  /** Of the live document, as in {@link LiveResult}. */
  readonly status: LiveResult<unknown>['status'];
  /** Why the last `save()` failed, or the error of the live document. */
  readonly error: Error | undefined;
  /** Whether a changed field differs from the live document. */
  readonly is_dirty: boolean;
  /** Fields that both the user and somebody else have changed, to different values. `save()` stores the user's. */
  readonly conflicts: readonly (keyof OwnFields<T>)[];
  readonly is_saving: boolean;
  /** Changes fields of the draft, to copies of these values. One that equals the live document is no change. */
  readonly set: (changes: Partial<OwnFields<T>>) => void;
  /**
   * Stores the changed fields, no others, by `patch`. What the user changes meanwhile stays a draft. A failure is in
   * `error` too, so an event handler may drop the promise.
   *
   * @returns the document; `undefined` if it was deleted: then the draft stays.
   */
  readonly save: () => Promise<Stored<T, S> | undefined>;
  /** Drops the changes. */
  readonly reset: () => void;
}

type Fields = Record<string, unknown>;

/** @param patch Stores fields. */
export function draftOf<T extends object, S extends Stamp>(
  live: Running<LiveResult<Stored<T, S> | undefined>>,
  patch: (fields: Fields) => Promise<Stored<T, S> | undefined>,
): Running<DraftResult<T, S>> {
  /** What the user changed. */
  let fields: Fields = {};
  /** What the live document had in these fields when the user began to change them. */
  let bases: Fields = {};
  let saves = 0;
  let failure: Error | undefined;
  let notify: (() => void) | undefined;
  /** The live result that `view` shows; `undefined` after a change of the draft. */
  let from: unknown;

  /** The changed fields that differ from a document. */
  const unlike = (document: object | undefined) =>
    Object.entries(fields).filter(
      ([name, value]) => !isEqual(value, (document as Fields | undefined)?.[name]),
    );

  const change = (next: Fields) => {
    fields = next;
    from = undefined;
    notify?.();
  };

  const save = async () => {
    const { data } = live.view();
    const sent = Object.fromEntries(unlike(data));
    const before = bases;
    bases = { ...bases, ...sent };
    saves += 1;
    failure = undefined;
    change(sent);
    try {
      const stored = unlike(data).length > 0 ? await patch(sent) : data;
      // What the user changed again meanwhile stays.
      if (stored) fields = Object.fromEntries(unlike(sent));
      return stored;
    } catch (error) {
      failure = error as Error;
      bases = before;
      throw error;
    } finally {
      saves -= 1;
      change(fields);
    }
  };

  const methods = {
    set: (changes: object) => {
      const { data } = live.view() as { data: Fields | undefined };
      const next = { ...fields };
      for (const [name, value] of Object.entries(changes)) {
        // A spread of the draft names all fields.
        if (data && isEqual(value, data[name])) delete next[name];
        else if (!Object.hasOwn(fields, name) || !isEqual(value, fields[name])) {
          next[name] = copyOf(value);
          if (data && !Object.hasOwn(fields, name)) bases = { ...bases, [name]: data[name] };
        }
      }
      change(next);
    },
    save: () => {
      const saved = save();
      // The failure is in `error`: an event handler may drop the promise.
      saved.catch(() => undefined);
      return saved;
    },
    reset: () => {
      failure = undefined;
      change({});
    },
  };
  const viewOf = ({ data, status, error }: LiveResult<Stored<T, S> | undefined>) => ({
    draft: data && (Object.freeze({ ...data, ...fields }) as Stored<T, S>),
    status,
    error: failure ?? error,
    is_dirty: unlike(data).length > 0,
    is_saving: saves > 0,
    conflicts: unlike(data)
      .map(([name]) => name)
      .filter(
        (name) =>
          saves === 0 &&
          data &&
          Object.hasOwn(bases, name) &&
          !isEqual(bases[name], (data as Fields)[name]),
      ) as never,
    ...methods,
  });
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

/** Later changes of the caller's value have no effect. */
function copyOf(value: unknown): unknown {
  try {
    return capture(value, 'changes').copy;
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
