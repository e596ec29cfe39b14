/**
 * node tools/docs.mjs [--dev]: builds the documentation site from docs/ into site/dist, or serves
 * it and follows changes. TypeDoc writes the reference to docs/api first. Other arguments are those
 * of VitePress, such as `--base /cairn/`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { bin, installPackages, ROOT } from './setup.mjs';

installPackages();
const given = process.argv.slice(2);
const options = given.filter((argument) => argument !== '--dev');
const command = options.length < given.length ? 'dev' : 'build';

await run('typedoc', ['--options', 'site/typedoc.json', '--logLevel', 'Warn']);
await run('vitepress', [command, 'site', ...options]);

/**
 * Runs a program, and ends it with this one.
 *
 * @param {string} program
 * @param {string[]} args
 */
async function run(program, args) {
  const child = spawn(bin(program), args, { cwd: ROOT, stdio: 'inherit' });
  const end = (/** @type {NodeJS.Signals} */ signal) => child.kill(signal);
  process.on('SIGINT', end).on('SIGTERM', end);
  const [code] = await once(child, 'exit');
  process.off('SIGINT', end).off('SIGTERM', end);
  if (code !== 0) process.exit(code ?? 1);
}
