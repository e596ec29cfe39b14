import { navigatorObject } from './platform-object.ts';

type Question = 'persist' | 'persisted' | 'estimate';

/**
 * What the browser answers about its storage; `undefined` where it does not: insecure pages and
 * Node lack `navigator.storage`, browsers, pages and workers differ in its methods, and a frame
 * without an origin gets a TypeError.
 */
export async function askStorage<Name extends Question>(
  question: Name,
): Promise<Awaited<ReturnType<StorageManager[Name]>> | undefined> {
  try {
    const storage: Partial<StorageManager> | undefined = navigatorObject('storage');
    return (await storage?.[question]?.()) as Awaited<ReturnType<StorageManager[Name]>> | undefined;
  } catch {
    return undefined;
  }
}
