import { type Clock, systemClock } from '../../async/clock.ts';

/**
 * What a replication notices of the world, passed in so that tests and simulations can drive it.
 */
export interface Environment {
  readonly clock: Clock;
  readonly random: () => number;
  /** Whether the page is shown; `true` outside of pages. */
  readonly isVisible: () => boolean;
  /**
   * Calls back when the network may be there again, or the page is shown. @returns a function that
   * stops that.
   */
  onReturn(call: () => void): () => void;
}

/** The page, worker or process that this runs in. */
export const platformEnvironment: Environment = {
  clock: systemClock,
  random: Math.random,
  isVisible: () => typeof document === 'undefined' || document.visibilityState === 'visible',
  onReturn(call) {
    if (typeof globalThis.addEventListener !== 'function') return () => undefined;
    const shown = () => {
      if (platformEnvironment.isVisible()) call();
    };
    const page = typeof document === 'undefined' ? undefined : document;
    globalThis.addEventListener('online', call);
    page?.addEventListener('visibilitychange', shown);
    return () => {
      globalThis.removeEventListener('online', call);
      page?.removeEventListener('visibilitychange', shown);
    };
  },
};
