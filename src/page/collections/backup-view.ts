import type { Result } from '../../async/coroutine.ts';
import type { BackupRead } from '../../protocol/backup-protocol.ts';
import type { CommonCalls } from '../calls/common-calls.ts';
import type { Sender } from '../sending/sender.ts';

/** What views of both types of collection have. */
export interface OpenView {
  /** Name of the backup. */
  readonly backup: string;
  /**
   * Lets go of the backup; later calls of the view reject. Without it, Cairn keeps the backup's
   * keys in memory and its data in storage until a minute has passed without a read.
   */
  close(): Promise<void>;
}

/** The methods of document collections that views have. */
export type DocumentReads =
  | ('get' | 'getMany' | 'find' | 'filter' | 'has' | 'count' | 'explain' | 'each')
  | typeof Symbol.asyncIterator;

/** The methods of key-value collections that views have. */
export type ValueReads = 'get' | 'has' | 'find' | 'filter' | 'count' | 'keys' | 'entries';

/** Those of both. */
const READS: readonly (DocumentReads | ValueReads)[] = [
  ...(['get', 'getMany', 'find', 'filter', 'has', 'count', 'explain', 'each'] as const),
  ...([Symbol.asyncIterator, 'keys', 'entries'] as const),
];

type Start = (calls: CommonCalls, sender: Sender, ...args: never) => Result<unknown>;

/** What a view needs of a collection, whose members are protected. */
interface Viewed {
  readonly settings: { readonly version: number };
  /** For `explain`. */
  readonly owner: object;
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
  for (const name of READS) if (name in methods) view[name] = (methods as typeof view)[name];
  return view as unknown as View;
}
