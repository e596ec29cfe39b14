import type { CollectionUsage } from '../backup/usage.ts';
import { ask } from './exchange.ts';
import { exportedFile, importFile } from './file-exchanges.ts';
import { signalIn } from './option-checks.ts';
import type { CallPort } from './port.ts';
import { run } from './run.ts';

/** Calls about the whole database; loaded when one is made. */
export async function exportAll(port: CallPort): Promise<ReadableStream<Uint8Array>> {
  const { cursor } = await run(port, ask({ op: 'exportAll' }));
  return exportedFile(port, cursor);
}

export function importAll(port: CallPort, file: unknown, options: unknown): Promise<number> {
  return run(port, importFile('importAll', file, options), signalIn(options), true);
}

export function usage(port: CallPort): Promise<readonly CollectionUsage[]> {
  return run(port, ask({ op: 'usage' }));
}
