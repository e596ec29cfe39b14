/**
 * Lets the page take input and paint before what comes next. A timer alone would be slower: browsers
 * hold nested ones back by 4 ms each.
 */
export function nextTask(): Promise<void> {
  const { scheduler } = globalThis as { scheduler?: { yield?: () => Promise<void> } };
  return scheduler?.yield?.() ?? new Promise((resolve) => setTimeout(resolve));
}
