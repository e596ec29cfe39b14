import { OptionError } from '../errors/errors.ts';

/** Keeps listeners and calls them. */
export class Emitter<Events extends object> {
  readonly #names: readonly (keyof Events & string)[];
  readonly #listeners = new Set<{
    readonly name: keyof Events;
    readonly listener: (event: never) => void;
  }>();

  /** @param names Of the events. */
  constructor(names: readonly (keyof Events & string)[]) {
    this.#names = names;
  }

  /** @throws {OptionError} for an unknown event or a listener that is no function. */
  on<Name extends keyof Events & string>(
    name: Name,
    listener: (event: Events[Name]) => void,
  ): () => void {
    if (!this.#names.includes(name)) {
      const message = `There is no event "${name}", but ${this.#names.join(', ')}.`;
      throw new OptionError('option_invalid', message, { place: 'event' });
    }
    checkListener(listener);
    // Wrapped: a function added twice is called twice, and removed one by one.
    const own = { name, listener };
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  has(name: keyof Events): boolean {
    return [...this.#listeners].some((own) => own.name === name);
  }

  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    for (const own of this.#listeners) {
      if (own.name === name) callSafely(own.listener as (event: Events[Name]) => void, event);
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

/** Calls a listener, whose exception becomes an uncaught error and stops nothing else. */
export function callSafely<T>(listener: (event: T) => void, event: T): void {
  try {
    listener(event);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
