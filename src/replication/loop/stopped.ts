import { ReplicationError } from '../../errors/replication-error.ts';

export function stopped(why: string): ReplicationError {
  return new ReplicationError('replication_stopped', `The replication has ended. ${why}`);
}
