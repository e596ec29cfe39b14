import { spawn } from 'node:child_process';
import { ROOT } from './setup.mjs';

/** Ends what a command has started. @type {Set<() => void>} */
const running = new Set();

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    for (const kill of running) kill();
    process.exit(130);
  });
}

/**
 * Runs a command and keeps its output. It and its children end when the time is over
 * or this process stops.
 *
 * @param {string[]} command
 * @param {number} minutes
 * @returns {Promise<{ ok: boolean, output: string }>}
 */
export function run([program = '', ...args], minutes) {
  const { BROWSERS: _narrowed, ...env } = process.env; // a check leaves no engine out
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { ...env, CI: 'true', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const kill = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  };
  const timer = setTimeout(() => {
    output += `\nnot done after ${minutes} minutes: ended\n`;
    kill();
  }, minutes * 60_000);
  running.add(kill);
  return new Promise((resolve) => {
    const settle = (/** @type {boolean} */ ok) => {
      clearTimeout(timer);
      running.delete(kill);
      resolve({ ok, output });
    };
    child.once('error', (error) => {
      output += String(error);
      settle(false);
    });
    child.once('close', (code) => settle(code === 0));
  });
}
