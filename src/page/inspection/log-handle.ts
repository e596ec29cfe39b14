import type { EventName, Listener } from '../../api/events.ts';
import type { OpenHandle } from '../sending/observed-call.ts';
import type { Inspection } from './inspection.ts';
import type { LoggedEvent } from './log-lines.ts';

interface EventSource {
  on(name: EventName, listener: Listener<EventName>): () => void;
}

const LOGGED: readonly LoggedEvent[] = ['save', 'index', 'restore', 'error', 'slow_query'];

/**
 * Prints the calls and events of a collection: the option `detailed_debugger_logs`. The printing
 * loads meanwhile.
 */
export function logHandle(inspection: Inspection, { settings, collection }: OpenHandle): void {
  const loading = import('./log-lines.ts').catch((error: unknown) => {
    console.warn('cairndb: the code of detailed_debugger_logs did not load.', error);
  });
  const { name } = settings;
  for (const event of LOGGED) {
    (collection as EventSource).on(event, (detail) => {
      void loading.then((lines) => lines?.logEvent(name, event, detail as never));
    });
  }
  inspection.observe((call) => {
    if (call.collection === name) void loading.then((lines) => lines?.logCall(call));
  });
}
