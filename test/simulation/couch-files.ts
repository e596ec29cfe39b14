import { pushKeyOf } from '../../src/replication/couchdb/couch-documents.ts';
import { type FileRef, refsIn } from '../../src/replication/protocol/files.ts';
import { type AttachmentsByName, NO_ATTACHMENTS } from './couch-attachments.ts';
import type { CouchJson, CouchModel } from './couch-model.ts';
import { MadeFiles, sha256Of } from './replication-files.ts';
import type { World } from './world.ts';

/** Names of attachments that Cairn gives. */
const OWN_NAME = /^[\da-f]{64}$/;

interface Write {
  readonly edit: CouchJson;
  /** The revision that it has made. */
  readonly rev: string;
  /** The browser that has sent it; `undefined`: another program. */
  readonly browser: number | undefined;
  /** What all branches had attached before. */
  readonly before: readonly AttachmentsByName[];
}

/** The files of documents of CouchDB, and what clients do with them. */
export class CouchFiles extends MadeFiles {
  /** What devices must not do. */
  readonly violations: string[] = [];
  readonly #model: CouchModel;
  /** All that was ever attached, by SHA-256. */
  readonly #attached = new Set<string>();
  /** Browsers that have sent a file, and so have it. */
  readonly #senders = new Set<string>();
  /** Documents with the name of a file that nobody has, or that another program has spoilt. */
  readonly #lacking = new Set<string>();
  /** Requests whose answers have come. */
  readonly #answered = new Set<string>();

  constructor(world: World, model: CouchModel, isLimited: boolean) {
    super({ world, isLimited });
    this.#model = model;
  }

  override content(): Uint8Array<ArrayBuffer> | Blob {
    const bytes = this.bytes();
    const { random } = this.world;
    return random.chance(0.5) ? bytes : new Blob([bytes], { type: random.pick(TYPES) });
  }

  isDue(_: number, document: object, isRefused: boolean): boolean {
    const { _id } = document as CouchJson;
    const attached = this.#model.attachments(_id);
    return !isRefused && refsIn(document).every(({ sha256 }) => isRight(attached, sha256));
  }

  isKept(): boolean {
    return true;
  }

  override restore(): void {
    this.#answered.clear();
  }

  override problems(documents: ReadonlyMap<string, object>): Promise<string[]> {
    const due = [...documents].filter(([id, document]) =>
      refsIn(document).every(({ sha256 }) => !this.#lacking.has(`${id} ${sha256}`)),
    );
    return super.problems(new Map(due), false);
  }

  protected async bytesOf(id: string, sha256: string): Promise<Buffer | undefined> {
    return this.#model.attachments(id).get(sha256)?.data;
  }

  /** Must be called when a tab sends a document with files. */
  sent(tab: number, edit: CouchJson): () => void {
    const request = JSON.stringify([tab, edit._id, edit._rev, pushKeyOf(edit as never)]);
    if (this.#answered.has(request))
      this.violations.push(`${edit._id} is sent again, though its answer has come`);
    return () => void this.#answered.add(request);
  }

  /** Must be called when a document with files has come from a browser. */
  arrived(browser: number, { _attachments }: CouchJson): void {
    for (const [name, given] of Object.entries((_attachments ?? {}) as object))
      if ('data' in given) this.#senders.add(`${browser} ${name}`);
  }

  /** Must be called with each change of a document. */
  written(write: Write): void {
    const { edit, rev, browser } = write;
    const { _id: id } = edit;
    const after = this.#model.attachments(id, rev);
    for (const { sha256 } of refsIn(edit))
      if (isRight(after, sha256)) this.#attached.add(sha256);
      else this.#lacking.add(`${id} ${sha256}`);
    if (browser === undefined || edit._deleted) return;
    const base = this.#model.parentOf(id, rev);
    const parent = base ? this.#model.attachments(id, base) : NO_ATTACHMENTS;
    for (const ref of refsIn(edit)) {
      const wrong = this.#wrongIn(write, ref, parent, after);
      if (wrong) this.violations.push(`browser ${browser}, file ${ref.sha256} of ${id}: ${wrong}`);
    }
    for (const name of parent.keys())
      if (!OWN_NAME.test(name) && !after.has(name))
        this.violations.push(`browser ${browser} removes ${name} of ${id}`);
  }

  #wrongIn(
    { edit, browser, before }: Write,
    { sha256 }: FileRef,
    parent: AttachmentsByName,
    after: AttachmentsByName,
  ): string | undefined {
    const isMerge = pushKeyOf(edit as never) === undefined;
    const given = (edit._attachments as Record<string, object> | undefined)?.[sha256];
    if (given && 'data' in given && isRight(parent, sha256)) return 'it is sent once more';
    if (isRight(after, sha256)) return undefined;
    if (after.has(sha256)) return parent.has(sha256) ? undefined : 'other bytes are sent';
    if (parent.has(sha256)) return 'it is dropped';
    if (isMerge) return before.some((one) => one.has(sha256)) ? 'its branch is lost' : undefined;
    if (!this.#attached.has(sha256)) return 'its document is sent without it';
    const isHere = this.#senders.has(`${browser} ${sha256}`) && !this.isLimited;
    return isHere ? 'it is left out, and is here' : undefined;
  }
}

const TYPES = ['image/png', 'text/plain'];

function isRight(attached: AttachmentsByName, sha256: string): boolean {
  const data = attached.get(sha256)?.data;
  return data !== undefined && sha256Of(data) === sha256;
}

/** A placeholder, as a program that knows of them writes it. */
export function placeholderOf(bytes: Uint8Array): { readonly $file: FileRef } {
  return { $file: { sha256: sha256Of(bytes), size: bytes.length, type: '' } };
}
