import type { SlowQuery } from '../../api/events.ts';
import type { Explained } from '../../protocol/requests.ts';
import type { Inspection } from '../inspection/inspection.ts';
import type { ObservedCall } from '../sending/observed-call.ts';
import type { DocumentCalls } from './document-calls.ts';
import { documentMethods } from './document-methods.ts';

/**
 * Queries that are explained at a time: an explanation runs the query again, so it costs as much.
 */
const MOST_WAITING = 5;

/** Reports queries that take too long, one after the other, each with its plan. */
export function watchSlowQueries(
  inspection: Inspection,
  slow_ms: number,
  emit: (query: SlowQuery) => void,
): void {
  let waiting = 0;
  let before: Promise<void> = Promise.resolve();
  inspection.observe((call) => {
    const place = optionsOf(call.method);
    if (place === undefined || call.duration_ms < slow_ms || 'error' in call) return;
    if (!isQuery(inspection, call)) return;
    const isExplained = waiting < MOST_WAITING;
    waiting++;
    before = before.then(async () => {
      const explained = isExplained ? await explain(inspection, call, place) : undefined;
      waiting--;
      const { collection, method, at, duration_ms, args } = call;
      const asked = { params: args[0], options: args[place] as object | undefined };
      const { plan, keys_examined, documents_examined, returned, engine_ms } = explained ?? {};
      const cost = { plan, keys_examined, documents_examined, returned, engine_ms };
      emit({ collection, method, at, duration_ms, ...asked, ...cost });
    });
  });
}

/** The position of the options among the arguments of a method. */
function optionsOf(method: string): number | undefined {
  const once = { live: 'filter', liveAggregate: 'aggregate' }[method] ?? method;
  return documentMethods[once as keyof typeof documentMethods]?.options;
}

/** `find` and the like of a key-value collection take a key, and `modify` takes an id. */
function isQuery({ handles }: Inspection, { collection, args }: ObservedCall): boolean {
  if (typeof args[0] === 'string') return false;
  return handles.some(
    ({ settings }) => settings.name === collection && settings.type === 'DOCUMENT_BASED',
  );
}

async function explain(
  { handles }: Inspection,
  { collection, method, args }: ObservedCall,
  place: number,
): Promise<Partial<Explained> | undefined> {
  const handle = handles.findLast(({ settings }) => settings.name === collection)?.handle;
  const { throttle, signal, upsert, array_filters, ...given } = (args[place] ?? {}) as Record<
    string,
    unknown
  >;
  // What the method itself adds.
  const asked = /find|has|One/.test(method) ? { ...given, limit: 1 } : given;
  // Dropped or closed since: the event has no plan.
  return handle?.channel
    .run((sender) => (handle.calls as DocumentCalls<object>).explain(sender, args[0] ?? {}, asked))
    .catch(() => undefined);
}
