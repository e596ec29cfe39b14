import { test } from 'vitest';
import { type MemoryStore, memory } from '../../src/server/index.ts';
import { fc, runs } from '../setup/properties.ts';
import { runModel, steps } from './store-model.ts';

test('memory() does what the oracle does', async () => {
  const subject = {
    open: async () => memory(),
    copy: async (store: object) => (store as MemoryStore).copy(),
  };
  await fc.assert(
    fc.asyncProperty(steps, (script) => runModel(subject, script)),
    runs(300),
  );
});
