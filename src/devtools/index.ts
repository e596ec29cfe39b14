export type { LiveActivity } from '../page/sending/observed-call.ts';
export { adviseIndexes, type IndexAdvice, type QueryCost } from './advise-indexes.ts';
export { CairnDevtools } from './cairn-devtools.ts';
export { type DevtoolsDatabase, liveQueriesOf } from './inspect/inspected-database.ts';
export { type DevtoolsOptions, mountDevtools } from './mount-devtools.ts';
