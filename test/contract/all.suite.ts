import { copiesSuite } from './copies.suite.ts';
import { criteriaSuite } from './criteria.suite.ts';
import { documentsSuite } from './documents.suite.ts';
import type { DoorFixture } from './door-fixture.ts';
import { dropSuite } from './drop.suite.ts';
import { errorsSuite } from './errors.suite.ts';
import { eventsSuite } from './events.suite.ts';
import { keyValueSuite } from './key-value.suite.ts';
import { keyValueItemsSuite } from './key-value-items.suite.ts';
import { lifecycleSuite } from './lifecycle.suite.ts';
import { liveSuite } from './live.suite.ts';
import { liveReadingSuite } from './live-reading.suite.ts';
import { managedFieldsSuite } from './managed-fields.suite.ts';
import { optionsSuite } from './options.suite.ts';
import { orderSuite } from './order.suite.ts';
import { patchSuite } from './patch.suite.ts';
import { predicatesSuite } from './predicates.suite.ts';
import { refusedValuesSuite } from './refused-values.suite.ts';
import { savingSuite } from './saving.suite.ts';
import { syncSuite } from './sync.suite.ts';
import { valuesSuite } from './values.suite.ts';

/** The whole contract, for one kind of door. */
export function contractSuite(door: DoorFixture): void {
  documentsSuite(door);
  patchSuite(door);
  managedFieldsSuite(door);
  criteriaSuite(door);
  predicatesSuite(door);
  orderSuite(door);
  copiesSuite(door);
  valuesSuite(door);
  refusedValuesSuite(door);
  keyValueSuite(door);
  keyValueItemsSuite(door);
  optionsSuite(door);
  lifecycleSuite(door);
  dropSuite(door);
  savingSuite(door);
  eventsSuite(door);
  syncSuite(door);
  errorsSuite(door);
  liveSuite(door);
  liveReadingSuite(door);
}
