import type { EventMap } from '../../api/events.ts';
import type { ObservedCall } from '../sending/observed-call.ts';

export type LoggedEvent = 'save' | 'index' | 'restore' | 'error' | 'slow_query';

const TEXTS: { readonly [Name in LoggedEvent]: (event: EventMap[Name]) => string } = {
  save: ({ changes }) => `saved ${changes} changes`,
  index: ({ documents, total }) => `builds indexes: ${documents} of ${total} documents`,
  restore: ({ backup, documents }) => `restored ${backup ?? 'a file'}: ${documents} documents`,
  error: ({ error }) => `failed: ${error.message}`,
  slow_query: ({ method, plan, documents_examined: examined, returned }) =>
    plan
      ? `slow ${method}: ${examined} documents examined for ${returned}, plan: ${plan.kind}`
      : `slow ${method}`,
};

export function logEvent<Name extends LoggedEvent>(
  collection: string,
  name: Name,
  event: EventMap[Name],
): void {
  print(collection, TEXTS[name](event), event);
}

/** Prints a call with its time, result and arguments. */
export function logCall(call: ObservedCall): void {
  const { collection, method, duration_ms, args } = call;
  print(collection, `${method} ${duration_ms.toFixed(1)} ms, ${outcomeOf(call)}`, ...args);
}

function print(collection: string, text: string, ...details: unknown[]): void {
  console.debug(`cairndb: ${collection} ${text}`, ...details);
}

function outcomeOf({ result, error }: ObservedCall): string {
  if (error !== undefined) return `failed: ${(error as Partial<Error>)?.message ?? String(error)}`;
  if (result === undefined) return 'done';
  if (Array.isArray(result)) return `${result.length} items`;
  if (typeof result === 'object' && result !== null) return '1 item';
  return String(result);
}
