import { OptionError } from '../errors/option-error.ts';
import type { EventMap, EventName, Listener } from './events.ts';

const NAMES: readonly EventName[] = [
  'status',
  'change',
  'save',
  'index',
  'restore',
  'replication',
  'quota',
  'error',
];

/** Keeps listeners and calls them. */
export class Emitter {
  readonly #listeners = new Set<{
    readonly name: EventName;
    readonly listener: Listener<never>;
  }>();

  /** @throws {OptionError} for an unknown event or a listener that is no function. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void {
    if (!NAMES.includes(name)) {
      const message = `There is no event "${name}", but ${NAMES.join(', ')}.`;
      throw new OptionError('option_invalid', message, { place: 'event' });
    }
    checkListener(listener);
    // Wrapped: a function added twice is called twice, and removed one by one.
    const own = { name, listener };
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  has(name: EventName): boolean {
    return [...this.#listeners].some((own) => own.name === name);
  }

  emit<Name extends EventName>(name: Name, event: EventMap[Name]): void {
    for (const own of this.#listeners) {
      if (own.name === name) callSafely(own.listener as Listener<Name>, event);
    }
  }
}

/** @throws {OptionError} for anything but a function. */
export function checkListener(listener: unknown): void {
  if (typeof listener === 'function') return;
  throw new OptionError('option_invalid', 'The listener must be a function.', {
    place: 'listener',
  });
}

/** Calls a listener; its exception becomes an uncaught error, and stops neither the engine nor other listeners. */
export function callSafely<T>(listener: (event: T) => void, event: T): void {
  try {
    listener(event);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
