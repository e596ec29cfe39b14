import { useEffect, useReducer } from 'react';
import { orders, syncs } from './database';

const all = Object.values(syncs);

/** One line about four replications and the outbox. */
export function SyncState() {
  const [, look] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const stops = [...all.map((sync) => sync.on('status', look)), orders.on('status', look)];
    return () => {
      for (const stop of stops) stop();
    };
  }, []);
  const states = all.map(({ status }) => status);
  const unsent = states.reduce((sum, { pending }) => sum + pending, orders.status.pending);
  const isOffline = states.some(({ state }) => state === 'offline' || state === 'waiting');
  const network = isOffline ? 'Offline' : 'Online';
  return <output>{unsent > 0 ? `${network}, ${unsent} to send` : network}</output>;
}
