/** npm start: opens the playground, on a fresh clone too. */
import { spawn } from 'node:child_process';
import { bin, installPackages, ROOT } from './setup.mjs';

installPackages();
const vite = spawn(bin('vite'), process.argv.slice(2), { cwd: ROOT, stdio: 'inherit' });
vite.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.on(signal, () => vite.kill(signal));
}
