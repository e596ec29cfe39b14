import type { Broadcast } from '../../src/platform/platform.ts';

/** A channel to other tabs that hears nothing: there are none. */
export function silentChannel(): Broadcast {
  const ignore = () => undefined;
  return {
    postMessage: ignore,
    addEventListener: ignore,
    removeEventListener: ignore,
    close: ignore,
  };
}
