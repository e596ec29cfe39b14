import { platformObject } from './platform-object.ts';

let held: Storage | undefined;

/**
 * `localStorage`, which a user may forbid, other scripts fill, and Android's web views lack: then nothing is kept in it. None where
 * there is no page: Node warns when its `localStorage` is accessed.
 */
function store(): Storage | undefined {
  return platformObject('document') && (platformObject('localStorage') ?? held);
}

/**
 * Keeps a reference to `localStorage`: WebKit returns none to a page that has called `window.close()`, but still writes
 * through an older reference.
 */
export function holdStore(): void {
  held ??= store();
}

export function readKept(key: string): string | undefined {
  try {
    return store()?.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

/** @returns whether it is stored. */
export function keep(key: string, text: string): boolean {
  try {
    const target = held ?? store();
    target?.setItem(key, text);
    return target !== undefined;
  } catch {
    return false; // full, or forbidden
  }
}

export function removeKept(key: string): void {
  try {
    store()?.removeItem(key);
  } catch {
    // What cannot be removed cannot be read either.
  }
}

/** The keys of all that is kept, also of other scripts. */
export function keptKeys(): string[] {
  try {
    return Object.keys(store() ?? {});
  } catch {
    return [];
  }
}
