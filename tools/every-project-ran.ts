import type { Reporter, TestModule, Vitest } from 'vitest/node';

/**
 * Vitest is content when a project finds no file, or a file leaves tests out. A full run is not: an
 * engine that ran nothing has shown nothing.
 */
export default class EveryProjectRan implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const complaints = (this.#vitest?.projects ?? []).flatMap(({ name }) => {
      const tests = modules
        .filter((module) => module.project.name === name)
        .flatMap((module) => [...module.children.allTests()]);
      if (tests.length === 0) return [`${name}: ran no test`];
      const leftOut = tests.filter((test) => test.result().state === 'skipped');
      return leftOut.map((test) => `${name}: left out: ${test.fullName}`);
    });
    for (const complaint of complaints) console.error(`✗ ${complaint}`);
    if (complaints.length > 0) process.exitCode = 1;
  }
}
