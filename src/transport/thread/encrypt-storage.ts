import { StorageError } from '../../errors/storage-error.ts';
import type { Storage } from '../../storage/drivers/driver.ts';
import type { EncryptionModule } from '../../storage/encryption/encryption-module.ts';
import type { DatabaseSettings } from '../channel/channel.ts';
import type { EnginePlatform } from '../platform/platform.ts';

/**
 * Encrypts an opened storage if the settings say so; the code loads with the first that does.
 *
 * @param storage It is closed where this fails.
 * @param damaged Called with values that do not open.
 */
export async function encryptStorage(
  storage: Storage,
  kind: string,
  { name, encryption, engine_encryption }: DatabaseSettings,
  { loadModule }: EnginePlatform,
  damaged: (error: StorageError) => void,
): Promise<Storage> {
  let open: EncryptionModule['openEncrypted'];
  const given = engine_encryption ?? (await encryption?.forEngine(name, false));
  if (!given) return storage;
  const { code, ...key } = given;
  try {
    const module =
      typeof code === 'string' ? await loadModule?.<EncryptionModule>(code) : code;
    open = (module as EncryptionModule).openEncrypted;
  } catch (cause) {
    await storage.close();
    // Never without encryption instead.
    throw new StorageError('encryption_unavailable', `The code of encryption did not start (${cause}).`, { cause });
  }
  return open(storage, {
    ...{ ...key, name, isInFiles: kind === 'opfs' },
    ...{ events: { damaged }, StorageError },
  });
}
