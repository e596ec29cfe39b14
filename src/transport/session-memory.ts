import type { BatchReply, OperationName, Request } from '../engine/protocol.ts';

/** Operations after which there is nothing new to save. */
const READS: ReadonlySet<OperationName> = new Set<OperationName>([
  'open',
  'ready',
  'save',
  'count',
  'get',
  'explain',
  'abort',
  'scan',
  'scanNext',
  'scanEnd',
  'live',
  'liveNext',
  'liveEnd',
  'listBackups',
  'verify',
  'exportBackup',
  'exportNext',
  'exportEnd',
  'exportAll',
  'usage',
  'kvGet',
  'kvMatch',
  'kvKeys',
  'kvEntries',
]);

/**
 * What has to be known of the session in a worker, so that another worker can take its place. Live queries are
 * not among it: who reads them asks again.
 */
export class SessionMemory {
  /** Collections that are open, by handle. */
  readonly opened = new Map<number, Request<'open'>>();
  /** Calls of `insertMany` of which parts are still to come. */
  readonly staged = new Set<number>();
  /** Whether there may be changes that are not in storage. */
  unsaved = false;

  /** To be called with a batch when it is sent. What it returns is to be called with the answer. */
  note(batch: readonly Request[]): (reply: BatchReply) => void {
    const drops: (readonly [index: number, handles: number[]])[] = [];
    const imports = batch.flatMap((request) => (isImport(request) ? request.call : []));
    batch.forEach((request, index) => {
      if (!READS.has(request.op)) this.unsaved = true;
      switch (request.op) {
        case 'open':
          this.opened.set(request.handle, request);
          break;
        case 'insertPart':
          if (request.last) this.staged.delete(request.call);
          else this.staged.add(request.call);
          break;
        case 'importBackup':
        case 'importAll':
          // Its parts must reach the worker that has the first of them.
          this.staged.add(request.call);
          break;
        case 'insertAbandon':
          this.staged.delete(request.call);
          break;
        case 'drop':
          // Those that are opened later open the name anew.
          drops.push([index, this.#handlesTo(this.nameOf(request))]);
      }
    });
    return ({ values }) => {
      for (const call of imports) this.staged.delete(call);
      for (const [index, handles] of drops) {
        if (values[index] === true) for (const handle of handles) this.opened.delete(handle);
      }
    };
  }

  /** The collection that a request is about. */
  nameOf({ handle }: Request): string | undefined {
    return this.opened.get(handle)?.settings.name;
  }

  #handlesTo(name: string | undefined): number[] {
    return [...this.opened.keys()].filter(
      (handle) => this.opened.get(handle)?.settings.name === name,
    );
  }
}

function isImport(request: Request): request is Request<'importBackup' | 'importAll'> {
  return request.op === 'importBackup' || request.op === 'importAll';
}
