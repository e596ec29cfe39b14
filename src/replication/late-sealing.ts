import type { Check } from '../api/options/option-checks.ts';
import { isPlainObject } from '../codec/kinds.ts';
import { loadFailed } from '../errors/errors.ts';
import type { Remote } from './protocol/remote.ts';
import type { SealedRemote } from './sealed-remote.ts';

/** 32 random bytes, or a CryptoKey for HKDF that may derive keys and bits. */
export type DocumentKey = Uint8Array | CryptoKey;

/** What of documents and their files the server can read. */
export interface EncryptOptions {
  /** A list to rotate keys: the first one seals, all of them open. The same on all devices. */
  readonly key: DocumentKey | readonly DocumentKey[];
  /**
   * Names of fields that the server can read too, for scopes and rights. A change of them by the
   * server is noticed.
   *
   * @default []
   */
  readonly clear?: readonly string[] | undefined;
  /**
   * A key for ids, which the server cannot read then. It never changes: `key` may be the same at
   * first, and rotate later. The same on all devices.
   */
  readonly ids?: DocumentKey | undefined;
}

/** For `checkOptions`. */
export const encryptCheck: Check = {
  allowed: '{ key, clear?, ids? }: keys of 32 bytes or CryptoKeys for HKDF, and names of fields',
  test: isEncrypt,
};

function isEncrypt(given: unknown): boolean {
  if (!isPlainObject(given)) return false;
  const { clear = [], key, ids, ...others } = given as unknown as EncryptOptions;
  const keys = [key].flat();
  return (
    keys.length > 0 &&
    keys.every(isKey) &&
    (ids === undefined || isKey(ids)) &&
    Array.isArray(clear) &&
    clear.every((name) => typeof name === 'string' && !name.startsWith('_')) &&
    Object.keys(others).length === 0
  );
}

function isKey(key: unknown): boolean {
  if (key instanceof Uint8Array) return key.length === 32;
  return (
    typeof CryptoKey !== 'undefined' &&
    key instanceof CryptoKey &&
    key.algorithm.name === 'HKDF' &&
    ['deriveKey', 'deriveBits'].every((usage) => key.usages.includes(usage as KeyUsage))
  );
}

const copyOf = (key: DocumentKey) => (key instanceof Uint8Array ? key.slice() : key);

/**
 * A remote whose server cannot read documents and files; its code loads with the first call. It has
 * no operations, which the server would apply.
 */
export function sealed(
  remote: Remote<string>,
  collection: string,
  { key, clear = [], ids }: EncryptOptions,
): Remote<string> {
  const keys = [key].flat().map(copyOf);
  const settings = { collection, keys, clear: [...clear], ids: ids && copyOf(ids) };
  let opening: Promise<SealedRemote> | undefined;
  const open = (): Promise<SealedRemote> => {
    opening ??= import('./sealed-remote.ts')
      .catch(loadFailed)
      .then(({ SealedRemote }) => SealedRemote.open(remote, settings));
    // The next call tries again.
    opening.catch(() => {
      opening = undefined;
    });
    return opening;
  };
  return {
    // A page without the key would push what it must not.
    id: `sealed${ids ? '-ids' : ''}:${remote.id}`,
    ...(remote.scopes && { scopes: true }),
    pull: async (...ask) => (await open()).pull(...ask),
    push: async (...ask) => (await open()).push(...ask),
    ...(remote.watch && { watch: remote.watch.bind(remote) }),
    ...(remote.files && {
      files: {
        received: async (...ask) => (await open()).files.received(...ask),
        send: async (...ask) => (await open()).files.send(...ask),
        read: async (...ask) => (await open()).files.read(...ask),
        sealing: async () => (await open()).files.sealing(),
      },
    }),
  };
}
