export { tidyLog } from '../../storage/log/compact-log.ts';
export { ExpirySweep } from '../expiry/expiry-sweep.ts';
export { CheckpointWork } from '../first-reads/checkpoint-work.ts';
export { warnOfOptions } from './differing-options.ts';
