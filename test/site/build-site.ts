import { execFileSync } from 'node:child_process';
import { ROOT } from '../../tools/setup.mjs';

/** Builds the documentation site once, for all tests. A dead link fails here. */
export default function setup(): void {
  // Vitest says `test` there, and VitePress would not build for publishing.
  const env = { ...process.env, NODE_ENV: 'production' };
  execFileSync(process.execPath, ['tools/docs.mjs'], { cwd: ROOT, env, stdio: 'pipe' });
}
