import type { BackupRead } from '../../protocol/backup-protocol.ts';
import type { CommonCalls } from '../calls/common-calls.ts';
import { begin, type Start } from '../calls/methods.ts';

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

/** What a view needs of a collection, whose members are protected. */
interface Viewed {
  readonly settings: { readonly version: number };
  /** For `explain`. */
  readonly owner: object;
  call(start: Start<CommonCalls>, args: readonly unknown[], rules?: object): Promise<unknown>;
}

/**
 * The methods of a collection, over calls whose requests ask a backup.
 *
 * @param methods Those of the collection's class.
 * @param reads Names of those that read.
 */
export function viewOf<View extends OpenView>(
  collection: object,
  methods: object,
  reads: readonly PropertyKey[],
  backup: string,
): View {
  const viewed = collection as Viewed;
  const { owner, settings } = viewed;
  const at: BackupRead = { backup, reader: Math.random(), version: settings.version };
  const view: Record<PropertyKey, unknown> & Pick<Viewed, 'call'> = {
    backup,
    owner,
    call: (start, ...rest) =>
      viewed.call(
        (calls) =>
          (sender, ...args) =>
            begin(start, calls, calls.sendingTo(sender, at), args),
        ...rest,
      ),
    close: () => viewed.call((calls) => (sender) => calls.endView(sender, at), []),
  };
  for (const name of reads) view[name] = (methods as typeof view)[name];
  return view as unknown as View;
}
