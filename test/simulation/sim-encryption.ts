import type { ClientEncryption } from '../../src/protocol/client-encryption.ts';
import type { UnloadWriter } from '../../src/protocol/recovery-records.ts';
import type { Storage } from '../../src/storage/drivers/driver.ts';
import { CHALLENGE, ENCRYPTION_KEY, PROOF } from '../../src/storage/drivers/encryption-key.ts';
import { keyWrong } from '../../src/storage/encryption/encryption-errors.ts';
import type {
  EncryptionModule,
  KeyedStorage,
} from '../../src/storage/encryption/encryption-module.ts';
import type { Browser } from './browser.ts';
import type { Owner } from './world.ts';

/** What a database says of its key: here the word itself. */
interface SimRecord {
  readonly word: string;
}

const PLACE = { store: 'leadership', key: ENCRYPTION_KEY } as const;

/** What only those know who have unwrapped the data key. */
const DATA_KEY = 'data key';

const proofOf = (place: readonly string[], challenge: unknown) =>
  JSON.stringify([DATA_KEY, place, challenge]);

function opened(record: unknown, word: string | undefined): void {
  if ((record as SimRecord | undefined)?.word !== word) throw keyWrong('it is another word');
}

const recordIn = async (storage: Storage) =>
  (await storage.getMany('leadership', [ENCRYPTION_KEY]))[0];

/**
 * Encryption of a simulated tab: a key is a word, and nothing is sealed, so that time goes by as
 * the seed has it.
 */
export function simEncryption(
  { storage, world }: Browser,
  owner: Owner,
  word: string,
  writing: () => UnloadWriter,
): ClientEncryption {
  const read = async () => {
    const own = await storage.driverOf(owner).open('db', { damaged: () => undefined });
    return recordIn(own);
  };
  const admit: KeyedStorage['admit'] = (channel, place, serve) => {
    const challenge = world.random.below(1e9);
    const hear = (event: Event) => {
      const { [PROOF]: proof } = ((event as MessageEvent).data ?? {}) as { [PROOF]?: unknown };
      if (proof === undefined) return;
      channel.removeEventListener('message', hear);
      if (proof === proofOf(place, challenge)) serve();
      else channel.postMessage({ [PROOF]: false });
    };
    channel.addEventListener('message', hear);
    channel.postMessage({ [CHALLENGE]: challenge });
  };
  const openEncrypted: EncryptionModule['openEncrypted'] = async (inner) => {
    const record = await recordIn(inner);
    if (record) opened(record, word);
    else await inner.write([{ ...PLACE, type: 'put', value: { word } }], 'strict');
    return {
      ...inner,
      getMany: async (store, keys) => {
        const values = await inner.getMany(store, keys);
        return values.map((value, at) => (keys[at] === ENCRYPTION_KEY ? undefined : value));
      },
      admit,
      keyRecord: () => recordIn(inner),
    };
  };
  return {
    forEngine: async () => ({
      ...{ code: { openEncrypted }, key: { kind: 'bytes' }, derived: undefined },
    }),
    prepare: () => undefined,
    proving: () => {
      const reading = read();
      reading.catch(() => undefined);
      return async (place, challenge) => {
        opened(await reading, word);
        return proofOf(place, challenge) as never;
      };
    },
    check: async (_, record) => opened(record, word),
    isOutdated: async () => false,
    pageWriting: writing,
    readJournals: async () => storage.journals.read('db'),
  };
}

/** Gives the database another word. */
export async function changeWord({ storage }: Browser, owner: Owner, word: string): Promise<void> {
  const own = await storage.driverOf(owner).open('db', { damaged: () => undefined });
  await own.write([{ ...PLACE, type: 'put', value: { word } }], 'strict');
}
