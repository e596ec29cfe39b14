/**
 * The platform's own Blob. happy-dom replaces the global by a class that structured clone does not
 * keep.
 */
const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
const native = process?.getBuiltinModule?.('node:buffer') as { Blob: typeof Blob } | undefined;
export const PlatformBlob = native?.Blob ?? Blob;
