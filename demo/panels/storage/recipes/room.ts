// What the browser grants to this origin, and whether it may take it back.
export async function room() {
  const [{ usage = 0, quota = 0 }, isPersisted] = await Promise.all([
    navigator.storage.estimate(),
    navigator.storage.persisted(),
  ]);
  return { usage, quota, isPersisted };
}

// Browsers decide by themselves, or ask the visitor.
export const keepForGood = () => navigator.storage.persist();
