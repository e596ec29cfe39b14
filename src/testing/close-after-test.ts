/** Closes a test database, whatever its disk does. */
interface Closable {
  [Symbol.asyncDispose](): Promise<void>;
}

interface RunnerGlobals {
  readonly beforeEach?: (hook: () => void) => void;
  readonly afterEach?: (hook: () => Promise<void>) => void;
  readonly expect?: { readonly getState?: () => { readonly currentTestName?: string } };
}

const open = new Set<Closable>();
/** Of those, the ones that were opened since the test began. */
const ofTest = new Set<Closable>();
let isInTest = false;

registerHooks();

/** Notes an open database, which the end of the test closes if it was opened in it. */
export function closeAfterTest(database: Closable, isAutomatic: boolean): void {
  open.add(database);
  if (isAutomatic && isInTest) ofTest.add(database);
}

/** Must be called when a database is closed. */
export function forgetDatabase(database: Closable): void {
  open.delete(database);
  ofTest.delete(database);
}

/**
 * Closes all test databases that are open. For runners without global hooks.
 *
 * @throws {CairnError} the first failure, after all others are closed.
 *
 * @example
 * ```ts no-run
 * import { afterEach } from 'vitest'; // or 'node:test'
 * import { closeTestDatabases } from 'cairndb/testing';
 *
 * afterEach(closeTestDatabases);
 * ```
 */
export async function closeTestDatabases(): Promise<void> {
  await closeAll([...open]);
}

async function closeAll(databases: readonly Closable[]): Promise<void> {
  const closed = await Promise.allSettled(databases.map((each) => each[Symbol.asyncDispose]()));
  // One that cannot be closed must not fail the tests after this one, too.
  for (const each of databases) forgetDatabase(each);
  for (const result of closed) if (result.status === 'rejected') throw result.reason;
}

/** Registers hooks where the runner has global ones, and allows it: not inside of a test. */
function registerHooks(): void {
  const { beforeEach, afterEach, expect } = globalThis as RunnerGlobals;
  if (typeof beforeEach !== 'function' || typeof afterEach !== 'function') return;
  if (expect?.getState?.().currentTestName !== undefined) return;
  beforeEach(() => {
    isInTest = true;
  });
  afterEach(async () => {
    isInTest = false;
    await closeAll([...ofTest]);
  });
}
