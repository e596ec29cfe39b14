/**
 * Yields to input and painting. A timer alone would be slower: browsers
 * delay nested timers by 4 ms each.
 */
export function nextTask(): Promise<void> {
  const { scheduler } = globalThis as { scheduler?: { yield?: () => Promise<void> } };
  return scheduler?.yield?.() ?? new Promise((resolve) => setTimeout(resolve));
}
