import type { Access } from './access.ts';
import type { RequestFailure } from './failures.ts';
import type { Store, StoreRow } from './store.ts';

/** What a request for a file comes with. */
interface FileAsk {
  readonly documents: Store;
  readonly collection: string;
  readonly canRead: Access['canRead'];
}

/** A request for a file, which `authorize` has let in. */
export interface AskedFile extends FileAsk {
  readonly request: Request;
  readonly sha256: string;
  /** Makes the answer of a failure. */
  readonly fail: (...failure: ConstructorParameters<typeof RequestFailure>) => RequestFailure;
  /** Reads a body of at most so many bytes. */
  readonly readBytes: (request: Request, limit: number) => Promise<Uint8Array>;
  /** Gets what fails behind the answer. */
  readonly report: (error: unknown) => void;
}

export interface SentRow extends StoreRow {
  /** The secret that its device sends files with: stores do not get it. */
  readonly device?: string | undefined;
}

/** A row of a push, which may name files. */
export interface RowCheck extends FileAsk {
  readonly row: SentRow;
}

/** Files beside documents, which `documentFiles()` of `cairndb/server/files` makes. */
export interface HandlerFiles {
  answer(asked: AskedFile): Promise<Response>;
  /** Why a row cannot be taken, as it names files that the user has not sent. */
  refusal(row: RowCheck): Promise<string | undefined>;
}

/** The collection and the file that a URL names: `…/orders/files/<sha256>`. */
export function fileOf(url: string): { collection: string; sha256: string } | undefined {
  const [, encoded, sha256] = /\/([^/]+)\/files\/([\da-f]{64})$/.exec(new URL(url).pathname) ?? [];
  return encoded && sha256 ? { collection: encoded, sha256 } : undefined;
}
