import { Database } from '../../../src/index.ts';
import { type Remote, type Replication, replicate } from '../../../src/replication/index.ts';

export interface Order {
  item?: string;
  count?: number;
  note?: string;
  at?: Date;
}

let names = 0;

/** A database in memory with one collection that replicates. */
export class Device {
  readonly db: Database;
  readonly orders: ReturnType<Device['openOrders']>;
  readonly sync: Replication<Order>;

  /** @param before Whose data it goes on with. */
  constructor(remote: Remote, options: object = {}, before?: Device) {
    this.db = before?.db ?? new Database({ name: `remote device ${++names}`, storage: 'memory' });
    this.orders = this.openOrders();
    this.sync = replicate(this.orders, { remote, ...options });
  }

  openOrders() {
    return new this.db.Collection<Order>({ name: 'orders', type: 'DOCUMENT_BASED' });
  }

  settled(): Promise<void> {
    return this.sync.settled({ timeout: 20_000 });
  }

  /** Its documents as they travel, by id: without managed fields that say nothing. */
  async content(): Promise<object[]> {
    const all = await this.orders.filter({});
    return all
      .map((order) => Object.entries(order).filter(([, value]) => value !== false))
      .map((fields) => Object.fromEntries(fields) as { _id: string })
      .sort((a, b) => (a._id < b._id ? -1 : 1));
  }

  /** Resolves when the replication is in that state. */
  reaches(state: string): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (this.sync.status.state !== state) return;
        stop();
        resolve();
      };
      const stop = this.sync.on('status', look);
      look();
    });
  }

  async close(): Promise<void> {
    await this.sync.stop();
    await this.db.close();
  }
}
