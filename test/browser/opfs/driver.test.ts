import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { storageDriverCases } from '../../../src/testing/index.ts';
import { hasFiles } from './has-files.ts';

const worker = new Worker(new URL('./suite-worker.ts', import.meta.url), { type: 'module' });
let files = false;
beforeAll(async () => {
  files = await hasFiles();
});
afterAll(() => worker.terminate());

/** @returns the failure, if there is one. */
function run(name: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const listen = ({ data }: MessageEvent<{ name: string; failure?: string }>) => {
      if (data.name !== name) return;
      worker.removeEventListener('message', listen);
      resolve(data.failure);
    };
    worker.addEventListener('message', listen);
    worker.addEventListener('error', (event) => resolve(event.message));
    worker.postMessage(name);
  });
}

describe('storage driver "opfs"', () => {
  const cases = storageDriverCases.filter(({ needs }) => !needs);
  test.each(cases.map(({ name }) => name))('%s', async (name) => {
    const failure = await run(name);
    if (files || name.startsWith('kind')) expect(failure).toBeUndefined();
    else expect(failure).toContain('storage_unavailable');
  });
});
