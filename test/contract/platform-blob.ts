/**
 * The platform's own Blob. happy-dom puts a class of its own in its place, of which a structured clone keeps nothing;
 * Node's own lies underneath.
 */
const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
const native = process?.getBuiltinModule?.('node:buffer') as { Blob: typeof Blob } | undefined;
export const PlatformBlob = native?.Blob ?? Blob;
