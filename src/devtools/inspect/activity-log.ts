import type { ClientStatus, EventMap, EventName } from '../../api/events.ts';
import type { DatabaseClient } from '../../page/client/database-client.ts';

export interface ActivityEntry {
  readonly kind: EventName;
  readonly collection: string | undefined;
  /** The last time, where equal events follow one another. */
  at: number;
  text: string;
  /** Documents of successive events. */
  count: number;
}

interface Unsaved {
  readonly at: number;
  readonly unsaved: number;
}

const STORING: ReadonlySet<string> = new Set(['save', 'restore', 'index', 'status']);
const MOST = 300;
/** Events of one kind and collection so close together are one entry. */
const TOGETHER_MS = 1000;

/** Keeps the last events of a database, and how many changes were unsaved when. */
export class ActivityLog {
  readonly entries: ActivityEntry[] = [];
  readonly unsaved: Unsaved[] = [];
  /** The last report of each replication. */
  readonly replications = new Map<string, EventMap['replication']>();
  /** Number of events that changed what is stored. */
  changes = 0;
  readonly #stops: (() => void)[];
  readonly #listeners = new Set<(entry: ActivityEntry) => void>();
  #status: ClientStatus;

  constructor(db: DatabaseClient) {
    this.#status = db.status;
    this.#noteUnsaved(db.status);
    this.#stops = [
      db.on('status', (status) => this.#take(status)),
      db.on('change', ({ collection, changes }) =>
        this.#add('change', collection, changes.length, (count) => `${count} changed`),
      ),
      db.on('save', ({ collection, changes }) =>
        this.#add('save', collection, changes, (count) =>
          count === 1 ? '1 change saved' : `${count} changes saved`,
        ),
      ),
      db.on('restore', ({ collection, backup, documents }) =>
        this.#once('restore', collection, `${documents} documents from ${backup ?? 'a file'}`),
      ),
      db.on('index', ({ collection, documents, total }) =>
        this.#add('index', collection, 0, () => `${documents} of ${total} documents indexed`),
      ),
      db.on('replication', (report) => {
        this.replications.set(report.collection, report);
        this.#add('replication', report.collection, 0, () => 'replication advanced');
      }),
      db.on('slow_query', ({ collection, method, duration_ms }) =>
        this.#once('slow_query', collection, `${method} took ${Math.round(duration_ms)} ms`),
      ),
      db.on('error', ({ collection, error }) => this.#once('error', collection, error.message)),
    ];
  }

  on(listener: (entry: ActivityEntry) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  clear(): void {
    this.entries.length = 0;
  }

  close(): void {
    for (const stop of this.#stops) stop();
    this.#listeners.clear();
  }

  #take(status: ClientStatus): void {
    const before = this.#status;
    this.#status = status;
    this.#noteUnsaved(status);
    const { state, engine, leader, tabs } = status;
    if (state !== before.state) this.#once('status', undefined, `state: ${state}`);
    if (engine !== before.engine && engine) this.#once('status', undefined, `engine: ${engine}`);
    if (leader !== before.leader && leader !== undefined)
      this.#once('status', undefined, leader ? 'this page leads' : 'this page follows');
    if (tabs !== before.tabs) this.#once('status', undefined, `tabs: ${tabs}`);
  }

  #noteUnsaved({ unsaved }: ClientStatus): void {
    if (this.unsaved.at(-1)?.unsaved === unsaved) return;
    this.unsaved.push({ at: Date.now(), unsaved });
    if (this.unsaved.length > MOST) this.unsaved.shift();
  }

  #once(kind: EventName, collection: string | undefined, text: string): void {
    this.#push({ kind, collection, at: Date.now(), text, count: 1 });
  }

  #add(
    kind: EventName,
    collection: string,
    count: number,
    textOf: (count: number) => string,
  ): void {
    const at = Date.now();
    const last = this.entries.findLast((entry) => entry.collection === collection);
    if (last?.kind === kind && at - last.at < TOGETHER_MS) {
      last.at = at;
      last.count += count;
      last.text = textOf(last.count);
      this.#tell(last);
    } else this.#push({ kind, collection, at, text: textOf(count), count });
  }

  #push(entry: ActivityEntry): void {
    this.entries.push(entry);
    if (this.entries.length > MOST) this.entries.shift();
    this.#tell(entry);
  }

  #tell(entry: ActivityEntry): void {
    if (STORING.has(entry.kind)) this.changes++;
    for (const listener of this.#listeners) listener(entry);
  }
}
