/** Child processes that never outlive this one, and temporary folders that go with them. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SETPRIV = '/usr/bin/setpriv';
const LOG_LENGTH = 20_000;

/** @type {Set<Child>} */
const running = new Set();
/** @type {Set<string>} */
const folders = new Set();

process.once('exit', () => {
  for (const child of running) child.kill();
  for (const folder of folders) removeFolder(folder);
});

/** @param {string} prefix */
export function makeFolder(prefix) {
  const folder = mkdtempSync(join(tmpdir(), `cairn-${prefix}-`));
  folders.add(folder);
  return folder;
}

/** @param {string} folder */
export function removeFolder(folder) {
  folders.delete(folder);
  // a browser that was killed a moment ago may still be writing its last file
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}

/** @param {number} ms */
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class Child {
  #log = '';
  #process;
  /** @type {string} */
  #command;
  /** @type {Promise<undefined>} */
  exited;

  /**
   * @param {string} command
   * @param {string[]} args
   * @param {NodeJS.ProcessEnv} env
   */
  constructor(command, args, env = process.env) {
    this.#command = command;
    // The kernel ends the child even when this process gets SIGKILL and no handler can run.
    const guard = process.platform === 'linux' && existsSync(SETPRIV);
    const argv = guard ? [SETPRIV, '--pdeathsig', 'KILL', command, ...args] : [command, ...args];
    this.#process = spawn(/** @type {string} */ (argv[0]), argv.slice(1), {
      detached: true, // a process group of its own, so that what it starts is ended with it
      stdio: ['ignore', 'pipe', 'pipe'],
      env,
    });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream.on('data', (data) => {
        this.#log = (this.#log + data).slice(-LOG_LENGTH);
      });
    }
    running.add(this);
    this.#process.once('error', (error) => {
      this.#log += String(error);
    });
    this.exited = new Promise((resolve) => {
      const leave = () => {
        running.delete(this);
        resolve(undefined);
      };
      this.#process.once('exit', leave);
      this.#process.once('error', leave);
    });
  }

  /** The end of its output. */
  get log() {
    return this.#log;
  }

  /** @param {NodeJS.Signals} signal */
  kill(signal = 'SIGKILL') {
    const { pid } = this.#process;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch (error) {
      const { code } = /** @type {NodeJS.ErrnoException} */ (error);
      if (code !== 'ESRCH') throw error; // ESRCH: it is gone already, which is what we want
    }
  }

  /** Ends it and waits until it is gone. */
  async end() {
    this.kill();
    await Promise.race([this.exited, sleep(3_000)]);
  }

  /**
   * Waits until the output has a match.
   * @param {RegExp} pattern
   * @param {number} timeout milliseconds
   */
  async waitFor(pattern, timeout) {
    const end = performance.now() + timeout;
    for (;;) {
      const match = pattern.exec(this.#log);
      if (match) return match;
      if (!running.has(this)) throw new Error(`${this.#command} ended:\n${this.#log}`);
      if (performance.now() > end) {
        throw new Error(`${this.#command} was not ready in ${timeout} ms:\n${this.#log}`);
      }
      await sleep(20);
    }
  }
}
