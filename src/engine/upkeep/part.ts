export { tidyLog } from '../../storage/log/compact-log.ts';
export { CheckpointWork } from '../first-reads/checkpoint-work.ts';
