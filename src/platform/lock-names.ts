/** Name of the lock that the leader of a database holds. */
export function lockName(database: string): string {
  return `cairn:${database}`;
}

/** Name of the lock that a client holds while it lives. */
export function presenceName(database: string, client: string): string {
  return `${lockName(database)}:client:${client}`;
}
