import { abortingSuite } from './aborting.suite.ts';
import { aggregateSuite } from './aggregate.suite.ts';
import { backupFilesSuite } from './backup-files.suite.ts';
import { backupsSuite } from './backups.suite.ts';
import { badOptionsSuite } from './bad-options.suite.ts';
import type { ClientFixture } from './client-fixture.ts';
import { collationSuite } from './collation.suite.ts';
import { collectionsSuite } from './collections.suite.ts';
import { copiesSuite } from './copies.suite.ts';
import { criteriaSuite } from './criteria.suite.ts';
import { destroySuite } from './destroy.suite.ts';
import { documentsSuite } from './documents.suite.ts';
import { dropSuite } from './drop.suite.ts';
import { errorsSuite } from './errors.suite.ts';
import { eventsSuite } from './events.suite.ts';
import { expirySuite } from './expiry.suite.ts';
import { explainSuite } from './explain.suite.ts';
import { getManySuite } from './get-many.suite.ts';
import { indexDeclarationsSuite } from './index-declarations.suite.ts';
import { indexesSuite } from './indexes.suite.ts';
import { iterationSuite } from './iteration.suite.ts';
import { keyValueSuite } from './key-value.suite.ts';
import { keyValueItemsSuite } from './key-value-items.suite.ts';
import { lifecycleSuite } from './lifecycle.suite.ts';
import { liveSuite } from './live.suite.ts';
import { liveAggregateSuite } from './live-aggregate.suite.ts';
import { liveOwnChangesSuite } from './live-own-changes.suite.ts';
import { liveReadingSuite } from './live-reading.suite.ts';
import { managedFieldsSuite } from './managed-fields.suite.ts';
import { manyUniqueSuite } from './many-unique.suite.ts';
import { failingMigrationsSuite } from './migrations/failing.suite.ts';
import { migrationsSuite } from './migrations/migrations.suite.ts';
import { versionsSuite } from './migrations/versions.suite.ts';
import { modifySuite } from './modify.suite.ts';
import { modifyTogetherSuite } from './modify-together.suite.ts';
import { modifyValuesSuite } from './modify-values.suite.ts';
import { nearestSuite } from './nearest.suite.ts';
import { operatorsSuite } from './operators.suite.ts';
import { optionsSuite } from './options.suite.ts';
import { orderSuite } from './order.suite.ts';
import { pagingSuite } from './paging.suite.ts';
import { partialIndexesSuite } from './partial-indexes.suite.ts';
import { patchSuite } from './patch.suite.ts';
import { patchManySuite } from './patch-many.suite.ts';
import { patchOneSuite } from './patch-one.suite.ts';
import { predicatesSuite } from './predicates.suite.ts';
import { refusedValuesSuite } from './refused-values.suite.ts';
import { relationsSuite } from './relations.suite.ts';
import { renameSuite } from './rename.suite.ts';
import { savingSuite } from './saving.suite.ts';
import { badSchemasSuite } from './schemas/bad-schemas.suite.ts';
import { schemaDocumentsSuite } from './schemas/documents.suite.ts';
import { schemaValuesSuite } from './schemas/values.suite.ts';
import { searchSuite } from './search.suite.ts';
import { sharedDocumentsSuite } from './shared-documents.suite.ts';
import { sortingSuite } from './sorting.suite.ts';
import { storageSuite } from './storage.suite.ts';
import { storedBytesSuite } from './stored-bytes.suite.ts';
import { syncSuite } from './sync.suite.ts';
import { timeTravelSuite } from './time-travel.suite.ts';
import { transactionConflictsSuite } from './transactions/conflicts.suite.ts';
import { transactionKeyValuesSuite } from './transactions/key-values.suite.ts';
import { transactionMisuseSuite } from './transactions/misuse.suite.ts';
import { transactionsSuite } from './transactions/transactions.suite.ts';
import { uniqueIndexesSuite } from './unique-indexes.suite.ts';
import { upsertManySuite } from './upsert-many.suite.ts';
import { valuesSuite } from './values.suite.ts';
import { watchSuite } from './watch.suite.ts';

type Suite = (fixture: ClientFixture) => void;

/** What depends on how its environment copies values: structured clone, Blobs, streams, errors. */
const aboutCopies: readonly Suite[] = [
  documentsSuite,
  copiesSuite,
  valuesSuite,
  refusedValuesSuite,
  modifyValuesSuite,
  backupFilesSuite,
  storedBytesSuite,
  errorsSuite,
];

/** What depends on other globals of its environment: classes, timers, events. */
const aboutGlobals: readonly Suite[] = [
  sharedDocumentsSuite,
  keyValueSuite,
  criteriaSuite,
  collationSuite,
  partialIndexesSuite,
  predicatesSuite,
  abortingSuite,
  optionsSuite,
  lifecycleSuite,
  eventsSuite,
  liveSuite,
  schemaValuesSuite,
];

/** What depends on storage: its transactions, what is found after a reload, what is removed. */
const aboutStorage: readonly Suite[] = [
  indexDeclarationsSuite,
  migrationsSuite,
  failingMigrationsSuite,
  versionsSuite,
  expirySuite,
  dropSuite,
  destroySuite,
  collectionsSuite,
  renameSuite,
  savingSuite,
  backupsSuite,
  timeTravelSuite,
  storageSuite,
];

/**
 * What needs parts that load beside a worker, and deep stacks, or the words of the platform:
 * relations, pipelines, searches.
 */
const aboutJoins: readonly Suite[] = [
  relationsSuite,
  aggregateSuite,
  liveAggregateSuite,
  searchSuite,
  nearestSuite,
];

/** What the engine does alike everywhere. */
const aboutEngine: readonly Suite[] = [
  patchSuite,
  operatorsSuite,
  patchManySuite,
  patchOneSuite,
  getManySuite,
  upsertManySuite,
  manyUniqueSuite,
  modifySuite,
  modifyTogetherSuite,
  transactionsSuite,
  transactionConflictsSuite,
  transactionKeyValuesSuite,
  transactionMisuseSuite,
  managedFieldsSuite,
  indexesSuite,
  uniqueIndexesSuite,
  sortingSuite,
  pagingSuite,
  iterationSuite,
  explainSuite,
  badOptionsSuite,
  orderSuite,
  keyValueItemsSuite,
  syncSuite,
  liveReadingSuite,
  liveOwnChangesSuite,
  watchSuite,
  schemaDocumentsSuite,
  badSchemasSuite,
];

/** A part of the contract. */
export type ContractPart = 'copies' | 'globals' | 'storage' | 'joins' | 'engine';

const suites = {
  copies: aboutCopies,
  globals: aboutGlobals,
  storage: aboutStorage,
  joins: aboutJoins,
  engine: aboutEngine,
};

/** The whole contract. */
const ALL_PARTS = Object.keys(suites) as readonly ContractPart[];

/** Parts of the contract, by default the whole, for one kind of fixture. */
export function contractSuite(
  fixture: ClientFixture,
  parts: readonly ContractPart[] = ALL_PARTS,
): void {
  for (const part of parts) for (const suite of suites[part]) suite(fixture);
}
