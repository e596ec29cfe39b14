import { afterEach, expect, test, vi } from 'vitest';
import { Expiry } from '../../src/engine/expiry/expiry-sweep.ts';
import { runExpiry } from './expiry-run.ts';
import { firstFailure } from './run-seeds.ts';

afterEach(() => vi.restoreAllMocks());

const PATIENCE = 600_000;
/** Each of these is found within so many seeds. */
const SOON = 600;

test.each<[string, () => void]>([
  [
    'a read that shows what is not removed yet',
    () => vi.spyOn(Expiry.prototype, 'hiding').mockReturnValue(undefined),
  ],
  [
    'a document that is hidden too early',
    () => {
      const { dueOf } = Expiry.prototype;
      vi.spyOn(Expiry.prototype, 'isHidden').mockImplementation(function (this: Expiry, record) {
        return dueOf.call(this, record) - 2000 <= this.now();
      });
    },
  ],
  [
    'an expired document that keeps its id',
    () => {
      const { vacate } = Expiry.prototype;
      vi.spyOn(Expiry.prototype, 'vacate').mockImplementation(function (this: Expiry, key) {
        const hides = this.hiding();
        return vacate.call(this, key) && !hides;
      });
    },
  ],
])('%s is found out', { timeout: PATIENCE }, async (_, breakIt) => {
  breakIt();
  expect(await firstFailure(runExpiry, { seeds: SOON })).toBeDefined();
});
