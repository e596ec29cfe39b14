import type { BackupRead } from '../../engine/protocol/backup-protocol.ts';
import type { Result } from '../../engine/scheduling/coroutine.ts';
import type { CommonCalls } from '../calls/common-calls.ts';
import type { Sender } from '../calls/sender.ts';

/** What views of both types of collection have. */
export interface OpenView {
  /** Name of the backup. */
  readonly backup: string;
  /**
   * Lets go of the backup; later calls of the view reject. Without it, Cairn keeps the backup's keys in memory and its data in
   * storage until a minute has passed without a read.
   */
  close(): Promise<void>;
}

export const DOCUMENT_READS = [
  ...(['get', 'getMany', 'find', 'filter', 'has', 'count', 'explain', 'each'] as const),
  Symbol.asyncIterator,
] as const;

export const VALUE_READS = ['get', 'has', 'find', 'filter', 'keys', 'entries', 'count'] as const;

type Start<Calls> = (calls: Calls, sender: Sender, ...args: never) => Result<unknown>;

/** Runs a call of a collection. */
type Call<Calls> = (args: never, start: Start<Calls>, mode?: never) => Promise<unknown>;

interface Viewed<Calls> {
  readonly call: Call<Calls>;
  readonly version: number;
  /** Of the collection, for `explain`. */
  readonly owner: object;
}

/**
 * The methods of a collection, over calls whose requests ask a backup.
 *
 * @param methods Those of the collection's class.
 */
export function viewOf<Calls extends CommonCalls>(
  { call, version, owner }: Viewed<Calls>,
  methods: object,
  names: readonly PropertyKey[],
  backup: string,
): object {
  const at: BackupRead = { backup, reader: Math.random(), version };
  const view = {
    backup,
    owner,
    call: (args: never, start: Start<Calls>, mode?: never) =>
      call(
        args,
        (calls, sender, ...given) => start(calls, calls.sendingTo(sender, at), ...given),
        mode,
      ),
    close: () => call([] as never, (calls, sender) => calls.endView(sender, at)),
  };
  for (const name of names)
    Object.assign(view, { [name]: (methods as Record<PropertyKey, unknown>)[name] });
  return view;
}
