import { StorageError } from '../../errors/storage-error.ts';
import type { EncryptionModule } from '../../storage/encryption/encryption-module.ts';
import type { DatabaseSettings } from '../channel/channel.ts';
import type { EngineEncryption } from '../encryption/client-encryption.ts';
import type { EnginePlatform } from '../platform/platform.ts';
import type { OpenedStorage } from './opened-storage.ts';

/**
 * Encrypts a storage that is being opened, if the settings say so; the code loads meanwhile.
 *
 * @param damaged Called with values that do not open.
 */
export async function encryptStorage(
  opening: Promise<OpenedStorage>,
  { name, encryption, engine_encryption }: DatabaseSettings,
  platform: EnginePlatform,
  damaged: (error: StorageError) => void,
): Promise<OpenedStorage> {
  if (!encryption && !engine_encryption) return opening;
  const given = engine_encryption ?? encryption?.forEngine(name, false);
  const loading = load(given as EngineEncryption, platform);
  // It is awaited once the storage is open.
  loading.catch(() => undefined);
  const opened = await opening;
  try {
    const { module, key } = await loading;
    const keyed = await module.openEncrypted(opened.storage, {
      ...{ ...key, name, hasPages: opened.shared },
      ...{ events: { damaged }, StorageError },
    });
    return { ...opened, storage: keyed, keyed };
  } catch (error) {
    // Never without encryption instead.
    await opened.storage.close();
    throw error;
  }
}

async function load(
  given: EngineEncryption | Promise<EngineEncryption>,
  { loadModule }: EnginePlatform,
) {
  const { code, ...key } = await given;
  if (typeof code === 'object') return { module: code, key };
  try {
    return { module: (await loadModule?.<EncryptionModule>(code)) as EncryptionModule, key };
  } catch (cause) {
    throw new StorageError(
      'encryption_unavailable',
      `The code of encryption did not start (${cause}). A content security policy must allow blob: in script-src.`,
      { cause },
    );
  }
}
