import { OptionError } from '../errors/option-error.ts';
import type { EventMap, EventName, Listener } from './events.ts';

const NAMES: readonly EventName[] = ['status', 'change', 'save', 'index', 'error'];

/** Keeps listeners and calls them. */
export class Emitter {
  readonly #listeners = new Map<EventName, Set<Listener<never>>>(
    NAMES.map((name) => [name, new Set()]),
  );

  /** @throws {OptionError} for an unknown event or a listener that is no function. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void {
    const listeners = this.#listeners.get(name);
    if (!listeners) {
      throw new OptionError(
        'option_invalid',
        `There is no event "${name}"; there are ${NAMES.join(', ')}.`,
        {
          place: 'event',
        },
      );
    }
    if (typeof listener !== 'function') {
      throw new OptionError('option_invalid', 'The listener must be a function.', {
        place: 'listener',
      });
    }
    // Wrapped, so that the same function added twice is called twice and stopped one by one.
    const own: Listener<Name> = (event) => listener(event);
    listeners.add(own);
    return () => void listeners.delete(own);
  }

  has(name: EventName): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0;
  }

  emit<Name extends EventName>(name: Name, event: EventMap[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        (listener as Listener<Name>)(event);
      } catch (error) {
        // A listener must not break the engine or its neighbours; its error surfaces as an uncaught one.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
