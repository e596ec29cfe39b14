import { OptionError } from '../../errors/errors.ts';
import type { OpenedCase, RemoteAbility, RemoteSubject } from './remote-bench.ts';
import { clientCases, serverCases } from './remote-cases.ts';

export { type FlakyOptions, type FlakyRemote, flakyRemote } from './flaky-remote.ts';
export type { OpenedRemote, RemoteAbility, RemoteSubject } from './remote-bench.ts';

/** A test that a remote must pass. */
export interface RemoteCase {
  readonly name: string;
  /** What it tests: leave it out for a remote that {@link RemoteSubject.lacks} it. */
  readonly needs?: RemoteAbility;
  /**
   * Runs it, over data of its own.
   *
   * @throws {Error} that says what the remote did, and what it must do.
   */
  run(subject: RemoteSubject): Promise<void>;
}

/**
 * The functions of a test runner: those of Vitest, Jest, Mocha (`it` as `test`) and node:test fit.
 */
export interface SuiteRunner {
  readonly describe: (name: string, define: () => void) => unknown;
  readonly test: (name: string, run: () => Promise<void>) => unknown;
}

/** All tests of a remote, for a runner that {@link remoteSuite} does not know. */
export const remoteCases: readonly RemoteCase[] = [...serverCases, ...clientCases].map(
  ({ run, ...rest }: OpenedCase) => ({
    ...rest,
    async run(subject) {
      const opened = await subject.open();
      try {
        await run(opened, subject);
      } finally {
        await opened.close?.();
      }
    },
  }),
);

/**
 * Declares the tests that every remote must pass: compare-and-set, order, deletions, repeated
 * pushes, pages, races, a network that fails.
 *
 * @param subject Opens the remote for each test, over a server without documents.
 * @throws {OptionError} `option_invalid` where `open` or a function of the runner is missing.
 *
 * @example
 * ```ts no-run
 * import { describe, test } from 'vitest';
 * import { remoteSuite } from 'cairndb/replication/testing';
 * import { myRemote, startMyServer } from './my-remote';
 *
 * remoteSuite(
 *   {
 *     name: 'my remote',
 *     async open() {
 *       const server = await startMyServer();
 *       return { remote: myRemote(server.url), close: () => server.stop() };
 *     },
 *     lacks: ['scopes'],
 *   },
 *   { describe, test },
 * );
 * ```
 */
export function remoteSuite(subject: RemoteSubject, { describe, test }: SuiteRunner): void {
  const missing = [
    typeof subject?.open === 'function' ? undefined : 'subject',
    typeof describe === 'function' && typeof test === 'function' ? undefined : 'runner',
  ].find((place) => place !== undefined);
  if (missing !== undefined) {
    const message = 'remoteSuite({ name, open }, { describe, test }) needs these functions.';
    throw new OptionError('option_invalid', message, { place: missing });
  }
  describe(`remote "${subject.name}"`, () => {
    for (const { name, needs, run } of remoteCases)
      if (!needs || !subject.lacks?.includes(needs)) test(name, () => run(subject));
  });
}
