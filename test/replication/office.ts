import { createHash } from 'node:crypto';
import { type EncryptOptions, http, type ReplicationOptions } from '../../src/replication/index.ts';
import { documentFiles, type FileStore, memoryFiles } from '../../src/server/files/index.ts';
import { createHandler, memory } from '../../src/server/index.ts';
import { Device } from './device.ts';

export const MEGABYTE = 1024 * 1024;

export const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** A server with files, whose network does what it is told to. */
export class Office {
  readonly requests: string[] = [];
  /** Runs before a request arrives, and with its answer. */
  before: (url: string) => void | Promise<void> = () => undefined;
  answered: (url: string, response: Response) => Response = (_, response) => response;
  mayAsk: (request: Request) => boolean = () => true;
  readonly documents = memory();
  readonly remote;
  readonly #handler;

  constructor(
    store: FileStore = memoryFiles(),
    options: object = {},
    onError?: (error: unknown) => void,
  ) {
    this.#handler = createHandler({
      ...{ store: this.documents, hold: 20, ...(onError && { onError }) },
      authorize: (request) => this.mayAsk(request),
      scopes: { owner: (owner) => ({ owner }) },
      files: documentFiles({ store, ...options }),
    });
    this.remote = this.remoteWith();
  }

  remoteWith(encrypt?: EncryptOptions) {
    return http({
      url: 'https://example.com/orders',
      ...(encrypt && { encrypt }),
      fetch: (async (url: string, init: RequestInit) => {
        await this.before(url);
        this.requests.push(
          `${init.method} ${url
            .replace(/device=[\w-]+/, '')
            .split('/')
            .slice(4)
            .join('/')}`,
        );
        return this.answered(url, await this.#handler(new Request(url, init)));
      }) as never,
    });
  }

  /** How often files were sent or read. */
  count(method: 'PUT' | 'GET'): number {
    return this.requests.filter((one) => one.startsWith(`${method} files/`)).length;
  }

  /** Tears requests to such URLs, but for the first ones. */
  tear(part: string, first: number): void {
    let left = first;
    this.before = (url) => {
      if (url.includes(part) && --left < 0) throw new TypeError('torn');
    };
  }

  device(given: ReplicationOptions['files'] = 'lazy', database?: never, remote = this.remote) {
    return new Device(remote, { files: given }, database) as Device & { orders: any };
  }
}

export const bytesOf = async (blob: Blob | undefined) =>
  blob && new Uint8Array(await blob.arrayBuffer());

export const placeholder = (bytes: Uint8Array, type = '') => ({
  $file: { sha256: hashOf(bytes), size: bytes.length, type },
});
