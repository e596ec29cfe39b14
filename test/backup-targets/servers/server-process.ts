import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A server of the tests, in a process of its own, over a folder that survives it. */
export class ServerProcess {
  readonly folder = mkdtempSync(join(tmpdir(), 'cairn-target-'));
  readonly #script: string;
  #child: ChildProcess | undefined;
  port = 0;

  constructor(script: string) {
    this.#script = fileURLToPath(new URL(script, import.meta.url));
  }

  /** Starts it, at the same port as before. */
  async start(...options: string[]): Promise<this> {
    const args = [this.#script, this.folder, String(this.port), ...options];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child = child;
    const [printed] = await once(child.stdout as NodeJS.ReadableStream, 'data');
    this.port = Number(String(printed));
    return this;
  }

  /** Ends it at once, whatever it is doing. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
