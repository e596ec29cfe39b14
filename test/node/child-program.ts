import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { makeFolder } from '../../tools/browsers/child.mjs';

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** The scripts of workers: a process of Node starts none. */
const withoutWorkers: Plugin = {
  name: 'without-workers',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^virtual:/ }, ({ path }) => ({ path, namespace: 'virtual' }));
    onLoad({ filter: /.*/, namespace: 'virtual' }, () => ({ contents: "export default ''" }));
  },
};

/**
 * Builds a program of this folder. @param hasModules Whether it finds the packages of this project.
 */
export async function buildProgram(name: string, hasModules = true): Promise<string> {
  const folder = makeFolder('program');
  chmodSync(folder, 0o755); // other users run it, too
  if (hasModules) symlinkSync(MODULES, join(folder, 'node_modules'));
  const outfile = join(folder, 'program.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL(name, import.meta.url))],
    ...{ outfile, bundle: true, platform: 'node', format: 'esm' },
    external: ['classic-level'],
    plugins: [withoutWorkers],
  });
  return outfile;
}

/** A process of a program, and the lines that it prints. */
export class ChildProgram {
  readonly #process: ChildProcess;
  readonly #exited: Promise<unknown[]>;
  readonly #lines: AsyncIterator<string>;
  readonly #printed: string[] = [];

  /** @param launcher A command that starts the process, such as one that limits it. */
  constructor(args: string[], launcher: string[] = [], options: SpawnOptions = {}) {
    const [command = '', ...rest] = [...launcher, process.execPath, ...args];
    this.#process = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'], ...options });
    this.#exited = once(this.#process, 'exit');
    const { stdout } = this.#process;
    if (!stdout) throw new Error('The process has no output.');
    const lines = createInterface(stdout);
    lines.on('line', (line) => this.#printed.push(line));
    this.#lines = lines[Symbol.asyncIterator]();
  }

  get pid(): number {
    return this.#process.pid as number;
  }

  /** The lines that it has printed so far. */
  get printed(): readonly string[] {
    return this.#printed;
  }

  /** The next line. @throws {Error} where the process ends before. */
  async line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`The process ended after: ${this.#printed.slice(-3).join(', ')}`);
    return value;
  }

  /** Waits for a line. */
  async until(wanted: string): Promise<void> {
    while (!(await this.line()).startsWith(wanted));
  }

  /** Sends a signal and waits for the end of the process and its output. */
  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<unknown> {
    this.#process.kill(signal);
    return this.exit();
  }

  /** Waits for its end. @returns its exit code. */
  async exit(): Promise<unknown> {
    const [code] = await this.#exited;
    for (;;) if ((await this.#lines.next()).done) return code;
  }
}
