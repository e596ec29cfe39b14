import { Database, type Stored } from '../../src/index.ts';
import {
  type Replication,
  type ReplicationOptions,
  replicate,
} from '../../src/replication/index.ts';
import type { Remote } from '../../src/replication/protocol/remote.ts';

export interface Order {
  item?: string;
  count?: number;
  note?: string;
  at?: Date;
}

let names = 0;
const open = new Set<Device>();

/** A database whose orders and settings replicate. */
export class Device {
  readonly name: string;
  readonly db: Database;
  readonly orders;
  readonly sync: Replication<Stored<Order>>;

  constructor(
    remote: Remote,
    options: Partial<ReplicationOptions<Stored<Order>>> = {},
    database: ConstructorParameters<typeof Database>[0] = {
      name: `replica ${++names}`,
      storage: 'memory',
    },
    settings: object = {},
  ) {
    this.name = database.name;
    this.db = new Database(database);
    this.orders = new this.db.Collection<Order>({
      ...{ name: 'orders', type: 'DOCUMENT_BASED', caching: false, activate_drop_method: true },
      ...settings,
    });
    this.sync = replicate(this.orders, { remote, ...options });
    open.add(this);
  }

  settled(): Promise<void> {
    return this.sync.settled({ timeout: 60_000 });
  }

  async close(): Promise<void> {
    open.delete(this);
    await this.sync.stop();
    await this.db.close();
  }

  /** All orders, by id. */
  async all(): Promise<Record<string, Order>> {
    const found = await this.orders.filter({}, { archived: true } as never);
    return Object.fromEntries(found.map((one) => [one._id, one]));
  }
}

export async function closeDevices(): Promise<void> {
  for (const device of [...open]) await device.close();
}
