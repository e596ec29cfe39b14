import type { ValueError } from '../errors/errors.ts';
import { encodeExactTree, notText } from './exact-json/exact-encoding.ts';
import { nameOf } from './kinds.ts';

/** What structured clone copies, and neither text nor bytes can hold. */
const CLONED_ALONE = /^(?:CryptoKey|FileSystem(?:File|Directory)Handle)$/;

/** Whether this page has stored any. */
let hasCloned = false;

/** An object of the platform that can be stored; `undefined` for anything else. */
export function toPlatformValue(value: object): object | undefined {
  const name = nameOf(value);
  if (!CLONED_ALONE.test(name)) return toPlatformBlob(value);
  hasCloned = true;
  // An imitation comes back as a plain object.
  return nameOf(structuredClone(value)) === name ? value : undefined;
}

/** Why storage that writes bytes cannot hold something checked; `undefined` if it can. */
export function bytesRefusal(value: unknown): ValueError | undefined {
  if (!hasCloned) return undefined; // the usual case, at no cost
  try {
    encodeExactTree(value, Number.POSITIVE_INFINITY, (binary) => {
      if (CLONED_ALONE.test(nameOf(binary))) throw notText(binary);
      return 0;
    });
    return undefined;
  } catch (error) {
    return error as ValueError;
  }
}

interface NodeBuffer {
  readonly Blob?: typeof Blob;
  readonly File?: typeof File;
}

/**
 * The platform's Blob or File with the content of one that is implemented in JavaScript, such as
 * happy-dom's, which structured clone and IndexedDB lose. `undefined` for anything else.
 */
function toPlatformBlob(value: object): Blob | undefined {
  const { name } = (value.constructor ?? {}) as { name?: unknown };
  if (name !== 'Blob' && name !== 'File') return undefined;
  const blob = value as File;
  const bytes = bytesOf(blob);
  const Platform = platformBlobs();
  if (!bytes || !Platform) return undefined;
  const { type } = blob;
  return name === 'File'
    ? new Platform.File([bytes], blob.name, { type, lastModified: blob.lastModified })
    : new Platform.Blob([bytes], { type });
}

/** The content of a Blob, from whichever property holds it: Blobs have no synchronous reader. */
function bytesOf(blob: Blob): Uint8Array<ArrayBuffer> | undefined {
  const { size } = blob;
  for (const key of Reflect.ownKeys(blob)) {
    const content = (blob as unknown as Record<PropertyKey, unknown>)[key];
    if (content instanceof Uint8Array && content.byteLength === size)
      return content as Uint8Array<ArrayBuffer>;
  }
  return undefined;
}

/** Node's classes, which a test environment replaces in the global scope. */
function platformBlobs(): Required<NodeBuffer> | undefined {
  const { process } = globalThis as {
    process?: { getBuiltinModule?: (name: string) => NodeBuffer | undefined };
  };
  return [process?.getBuiltinModule?.('node:buffer'), globalThis].find(
    (one): one is Required<NodeBuffer> =>
      one?.Blob !== undefined && one.File !== undefined && isCloneable(one.Blob),
  );
}

function isCloneable(Class: typeof Blob): boolean {
  return structuredClone(new Class([])) instanceof Class;
}
