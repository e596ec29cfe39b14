import * as Y from 'yjs';
import { Database, type DatabaseOptions, type DocumentCollection } from '../../src/index.ts';
import { type DocUpdate, type KeptDoc, keepDoc } from '../../src/yjs/index.ts';

const opened: { db: Database; texts: DocumentCollection<DocUpdate> }[] = [];

/** A database with a collection for updates, in memory unless it is given. */
export function openTexts(options: Partial<DatabaseOptions> = {}) {
  const db = new Database({ name: crypto.randomUUID(), storage: 'memory', ...options });
  const texts = new db.Collection<DocUpdate>({
    name: 'texts',
    type: 'DOCUMENT_BASED',
    indexes: ['doc'],
  });
  opened.push({ db, texts });
  return { db, texts };
}

export async function closeAll(): Promise<void> {
  for (const { db } of opened.splice(0)) await db.close();
}

/** A Y.Doc that is kept and has what is stored. */
export async function openDoc(
  texts: DocumentCollection<DocUpdate>,
  name = 'letter',
): Promise<{ doc: Y.Doc; text: Y.Text; kept: KeptDoc; errors: Error[] }> {
  const doc = new Y.Doc();
  const kept = keepDoc(texts, doc, { name });
  const errors: Error[] = [];
  kept.on('error', (error) => errors.push(error));
  await kept.ready;
  return { doc, text: doc.getText(), kept, errors };
}

/** The text that a new visitor reads. */
export async function read(texts: DocumentCollection<DocUpdate>, name = 'letter'): Promise<string> {
  const { kept, text } = await openDoc(texts, name);
  await kept.close();
  return text.toString();
}
