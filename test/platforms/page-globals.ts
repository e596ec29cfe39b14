/** Globals of a page, for tests in Node. Put back with {@link GlobalsOfPage.restore}. */
export class GlobalsOfPage {
  readonly #before = new Map<string, PropertyDescriptor | undefined>();

  constructor() {
    const document = Object.assign(new EventTarget(), { visibilityState: 'visible' });
    const page = new EventTarget();
    this.define('document', { value: document });
    this.define('dispatchEvent', { value: page.dispatchEvent.bind(page) });
    for (const name of ['addEventListener', 'removeEventListener'] as const) {
      // Node removes no listener by `capture` alone.
      const change = (type: string, listener: EventListener, capture?: boolean) =>
        page[name](type, listener, { capture: capture ?? false });
      this.define(name, { value: change });
    }
    this.define('navigator', { value: { storage: newStorageManager(), userAgent: 'Test' } });
    this.define('localStorage', { value: newStore() });
  }

  /** Defines a global. */
  define(name: string, property: PropertyDescriptor): void {
    if (!this.#before.has(name))
      this.#before.set(name, Object.getOwnPropertyDescriptor(globalThis, name));
    Object.defineProperty(globalThis, name, { ...property, configurable: true });
  }

  /** Defines a property of the navigator. */
  defineInNavigator(name: string, property: PropertyDescriptor): void {
    Object.defineProperty(globalThis.navigator, name, { ...property, configurable: true });
  }

  restore(): void {
    for (const [name, before] of this.#before) {
      if (before) Object.defineProperty(globalThis, name, before);
      else Reflect.deleteProperty(globalThis, name);
    }
  }
}

function newStorageManager(): Partial<StorageManager> {
  return {
    persist: async () => true,
    persisted: async () => true,
    estimate: async () => ({ usage: 1, quota: 1000 }),
  };
}

/** A `localStorage`, whose keys are its properties. */
function newStore(): Storage {
  const methods = {
    getItem(key: string) {
      return Object.hasOwn(this, key) ? (this as unknown as Record<string, string>)[key] : null;
    },
    setItem(key: string, text: string) {
      Object.assign(this, { [key]: text });
    },
    removeItem(key: string) {
      Reflect.deleteProperty(this, key);
    },
  };
  return Object.create(methods) as Storage;
}
