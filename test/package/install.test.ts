import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { makeFolder, removeFolder } from '../../tools/browsers/child.mjs';
import { packFolder, ROOT, run } from './tarball.ts';

test('npm installs the tarball, without the network if its dependencies are cached', async () => {
  const app = makeFolder('installed');
  try {
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const overrides: Record<string, string> = {};
    for (const name of Object.keys(dependencies)) {
      overrides[name] = `file:${await packFolder(join(ROOT, 'node_modules', name), app)}`;
    }
    writeFileSync(join(app, 'package.json'), JSON.stringify({ private: true, overrides }));
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', inject('tarball')], app);
    const missing = ['cairndb', ...Object.keys(dependencies)].filter(
      (name) => !existsSync(join(app, 'node_modules', name)),
    );
    expect(missing).toEqual([]);
    const script = "console.log(Object.keys(await import('cairndb')).includes('connect'))";
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], app);
    expect(stdout.trim()).toBe('true');
  } finally {
    removeFolder(app);
  }
});
