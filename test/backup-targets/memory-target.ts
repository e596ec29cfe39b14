import type { BackupTarget } from '../../src/backup-targets/index.ts';

/** A target in memory that a test can make fail. */
export class MemoryTarget implements BackupTarget {
  readonly objects = new Map<string, Uint8Array>();
  /** Paths in the order of their puts. */
  readonly puts: string[] = [];
  /** Called before each call; what it throws is the failure of that call. */
  before: (method: 'put' | 'get' | 'list' | 'delete', path: string) => void | Promise<void> = () =>
    undefined;

  async put(path: string, bytes: Uint8Array): Promise<void> {
    if (!/^[a-z0-9/._-]+$/.test(path)) throw new TypeError(`bad path ${path}`);
    await this.before('put', path);
    this.puts.push(path);
    this.objects.set(path, bytes.slice());
  }

  async get(path: string): Promise<Uint8Array | undefined> {
    await this.before('get', path);
    return this.objects.get(path)?.slice();
  }

  async list(prefix: string): Promise<string[]> {
    await this.before('list', prefix);
    return [...this.objects.keys()].filter((path) => path.startsWith(prefix));
  }

  async delete(path: string): Promise<void> {
    await this.before('delete', path);
    this.objects.delete(path);
  }

  paths(kind: 'backups' | 'parts'): string[] {
    return [...this.objects.keys()].filter((path) => path.includes(`/${kind}/`)).sort();
  }
}
