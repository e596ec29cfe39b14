/** Runs the tests in the page and returns their results. */
import { type Suite, startTests, type Task, type VitestRunner } from '@vitest/runner';

export interface TestResult {
  readonly name: string;
  readonly state: string;
  readonly error: string | undefined;
}

const TIMEOUT_MS = 20_000;

/** Which tests are run: each `of`th, beginning with `first`. */
export interface Share {
  readonly first: number;
  readonly of: number;
}

/** @param collect Defines the tests, as a test file does. */
export async function runSuites(collect: () => void, share: Share): Promise<TestResult[]> {
  const runner: VitestRunner = {
    config: {
      root: '/',
      setupFiles: [],
      name: undefined,
      passWithNoTests: false,
      testNamePattern: undefined,
      allowOnly: false,
      sequence: { seed: 0, hooks: 'stack', setupFiles: 'list' },
      chaiConfig: undefined,
      maxConcurrency: 1,
      testTimeout: TIMEOUT_MS,
      hookTimeout: TIMEOUT_MS,
      retry: 0,
      includeTaskLocation: false,
      tags: [],
      tagsFilter: undefined,
      strictTags: false,
    },
    importFile: async () => collect(),
    onCollected: (collected) => {
      const count = { tests: 0 };
      for (const file of collected) keepShare(file, share, count);
    },
  };
  const files = await startTests(['/contract'], runner);
  return files.flatMap(resultsOf);
}

function keepShare(suite: Suite, { first, of }: Share, count: { tests: number }): void {
  suite.tasks = suite.tasks.filter((task) => {
    if (task.type !== 'suite') return count.tests++ % of === first;
    keepShare(task, { first, of }, count);
    return task.tasks.length > 0;
  });
}

function resultsOf(task: Task): TestResult[] {
  if (task.type !== 'suite') return [resultOf(task)];
  return [...failureOf(task), ...task.tasks.flatMap(resultsOf)];
}

/** A suite counts only if it failed itself: during collection, or in a hook. */
function failureOf(suite: Task): TestResult[] {
  return suite.result?.errors?.length ? [resultOf(suite)] : [];
}

function resultOf(task: Task): TestResult {
  return {
    name: task.fullTestName ?? task.name,
    state: task.result?.state ?? task.mode,
    error: task.result?.errors?.map(({ message, diff }) => `${message}\n${diff ?? ''}`).join('\n'),
  };
}
