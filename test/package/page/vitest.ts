/**
 * A replacement for `vitest` in pages outside Vitest: its collector of tests and its matchers,
 * without Node.
 */
import {
  ASYMMETRIC_MATCHERS_OBJECT,
  customMatchers,
  type ExpectStatic,
  GLOBAL_EXPECT,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  setState,
} from '@vitest/expect';
import * as chai from 'chai';

// biome-ignore lint/performance/noBarrelFile: it has to export what `vitest` exports
export {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  it,
  onTestFinished,
  test,
} from '@vitest/runner';

type Extend = (expect: ExpectStatic, matchers: object) => void;

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);

const page = globalThis as unknown as Record<symbol, object>;

export const expect = Object.assign(
  (value: unknown, message?: string) => chai.expect(value, message),
  chai.expect,
  page[ASYMMETRIC_MATCHERS_OBJECT],
) as unknown as ExpectStatic;

// the matchers look up their surroundings there
page[GLOBAL_EXPECT] = expect;
setState({ assertionCalls: 0 }, expect);
(chai.expect as unknown as { extend: Extend }).extend(expect, customMatchers);
