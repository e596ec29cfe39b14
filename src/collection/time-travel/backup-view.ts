import type { BackupRead } from '../../engine/protocol/backup-protocol.ts';
import type { Result } from '../../engine/scheduling/coroutine.ts';
import type { CommonCalls } from '../calls/common-calls.ts';
import { loadFailed } from '../calls/first-call.ts';
import type { Sender } from '../calls/sender.ts';
import type { ChangeSource } from './change-source.ts';

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

type Start = (calls: CommonCalls, sender: Sender, ...args: never) => Result<unknown>;

/** What views and diffs need of a collection, whose members are protected. */
interface Viewed {
  readonly settings: { readonly version: number };
  /** For `explain`. */
  readonly owner: object;
  readonly liveBase: ChangeSource;
  call(args: readonly unknown[], start: Start, mode?: never): Promise<unknown>;
}

/**
 * The methods of a collection, over calls whose requests ask a backup.
 *
 * @param methods Those of the collection's class.
 */
export function viewOf<View extends OpenView>(
  collection: object,
  methods: object,
  names: readonly PropertyKey[],
  backup: string,
): View {
  const viewed = collection as Viewed;
  const { owner, settings } = viewed;
  const at: BackupRead = { backup, reader: Math.random(), version: settings.version };
  const view: Record<PropertyKey, unknown> = {
    backup,
    owner,
    call: (args: readonly unknown[], start: Start, mode?: never) =>
      viewed.call(
        args,
        (calls, sender, ...given) => start(calls, calls.sendingTo(sender, at), ...given),
        mode,
      ),
    close: () => viewed.call([], (calls, sender) => calls.endView(sender, at)),
  };
  for (const name of names) view[name] = (methods as typeof view)[name];
  return view as unknown as View;
}

/** Sends the request at once, so that it keeps its place among the calls. */
export async function* diffOf<C>(
  collection: object,
  from: string,
  to: string | undefined,
): AsyncGenerator<C, void, undefined> {
  const viewed = collection as Viewed;
  const [cursor, { readChanges }] = await Promise.all([
    viewed.call([from, to], (calls, sender, ...given: [unknown, unknown]) =>
      calls.diff(sender, viewed.settings.version, ...given),
    ) as Promise<number>,
    import('./read-changes.ts').catch(loadFailed),
  ]);
  yield* readChanges<C>(cursor, viewed.liveBase);
}
