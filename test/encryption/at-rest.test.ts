import { expect, test } from 'vitest';
import { encrypted } from '../../src/encryption/index.ts';
import { Database, memoryDriver } from '../../src/index.ts';
import { readRaw } from './raw-values.ts';

const WORDS = [
  'Zugspitze',
  'Matterhorn',
  'Aconcagua',
  'Kilimanjaro',
  'Chimborazo',
  'Grossglockner',
];
const [NAME, LABEL, FIELD, VALUE, ID, KEY] = WORDS as [
  string,
  string,
  string,
  string,
  string,
  string,
];

/** Part of the name of a column. */
const STOP = 'popocatepetl';

const VECTOR = new Float32Array(16).map((_, at) => Math.sin(at + 1));
const VECTORS = { vector: 'at', dimensions: VECTOR.length, metric: 'dot' } as const;

/** How a word may stand in storage. */
function encodings(word: string): string[] {
  const utf8 = Buffer.from(word, 'utf8');
  const utf16 = Buffer.from(word, 'utf16le');
  return [utf8, utf16, utf16.swap16()].map((bytes) => bytes.toString('latin1'));
}

/** All bytes of a value, and of texts in it in both encodings, as text of one character a byte. */
function bytesOf(value: unknown): string {
  if (typeof value === 'string')
    return (
      Buffer.from(value, 'utf8').toString('latin1') +
      Buffer.from(value, 'base64').toString('latin1')
    );
  if (ArrayBuffer.isView(value))
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1');
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString('latin1');
  if (value instanceof Map || value instanceof Set) return Array.from(value, bytesOf).join('\n');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([key, item]) => `${bytesOf(key)} ${bytesOf(item)}`)
    .join('\n');
}

async function fill(driver: ReturnType<typeof memoryDriver>, isSealed: boolean): Promise<void> {
  const storage = isSealed ? encrypted(driver, { key: new Uint8Array(32).fill(5) }) : driver;
  const db = new Database({ name: 'mountains', storage });
  const documents = new db.Collection({
    ...{ name: NAME, type: 'DOCUMENT_BASED' as const },
    indexes: [
      FIELD,
      { fields: `${FIELD}2`, unique: true },
      { text: FIELD, stop_words: [STOP] },
      VECTORS,
    ],
  });
  // Enough for segments with documents beside them, and for a checkpoint, which has words.
  await documents.insertMany(
    Array.from({ length: 3000 }, (_, n) => ({
      _id: `${ID} ${n}`,
      [FIELD]: `${VALUE} ${n}`,
      [`${FIELD}2`]: n,
      at: VECTOR,
      bytes: new TextEncoder().encode(VALUE.padEnd(1000)),
      map: new Map([[VALUE, new Set([VALUE])]]),
    })),
  );
  await documents.insert({ _id: `${ID} small`, blob: new Blob([VALUE]) });
  await db.save();
  await documents.createBackup({ label: LABEL });
  await documents.update(`${ID} small`, { [FIELD]: VALUE });
  const values = new db.Collection({ name: `${NAME} values`, type: 'KEY_VALUE_BASED' });
  await values.set(KEY, { [FIELD]: VALUE });
  await db.renameCollection(`${NAME} values`, `${NAME} renamed`);
  await db.close();
}

test('no word of an encrypted database is in storage, in keys or values', async () => {
  const [plain, sealed] = [memoryDriver(), memoryDriver()];
  await Promise.all([fill(plain, false), fill(sealed, true)]);
  const stored = await readRaw(plain, 'mountains');
  const raw = await readRaw(sealed, 'mountains');
  const [clear, hidden] = [stored, raw].map((all) =>
    all.map(({ store, key, value }) => `${store} ${bytesOf(key)} ${bytesOf(value)}`).join('\n'),
  ) as [string, string];
  expect(raw.length).toBeGreaterThanOrEqual(stored.length);
  for (const all of [stored, raw])
    expect(all.filter(({ store }) => store === 'bodies').length).toBeGreaterThan(30);
  const secrets = [...WORDS, VALUE.toLowerCase(), STOP].map(encodings);
  secrets.push([bytesOf(VECTOR)]);
  for (const secret of secrets) {
    // The search finds what is there.
    expect(secret.some((encoded) => clear.includes(encoded))).toBe(true);
    for (const encoded of secret) expect(hidden.includes(encoded)).toBe(false);
  }
});

test('the same value is never stored as the same bytes', async () => {
  const driver = memoryDriver();
  const storage = await encrypted(driver, { key: new Uint8Array(32) }).open('n', {
    damaged: () => undefined,
  });
  for (const number of [1, 2])
    await storage.write(
      [{ type: 'put', store: 'segments', key: ['a', number], value: { same: 'same' } }],
      'relaxed',
    );
  const bytes = (await readRaw(driver, 'n'))
    .filter(({ store }) => store === 'segments')
    .map(({ value }) => (value as { sealed: Uint8Array }).sealed.join());
  expect(new Set(bytes).size).toBe(2);
});
