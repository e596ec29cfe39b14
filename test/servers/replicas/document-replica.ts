import type { Database } from '../../../src/index.ts';
import type { replicate } from '../../../src/replication/index.ts';
import { Replica } from './replica.ts';

interface Order {
  x?: string;
  y?: string;
  /** What was added to it, in order. */
  l?: string[];
}

/** A client with a collection of documents. */
export class DocumentReplica extends Replica {
  #orders!: ReturnType<DocumentReplica['openOrders']>;

  protected openIn(db: Database): Parameters<typeof replicate>[0] {
    this.#orders = this.openOrders(db);
    return this.#orders;
  }

  openOrders(db: Database) {
    const stamps = { indicate_created_at: true, indicate_updated_at: true };
    return new db.Collection<Order>({ name: 'orders', type: 'DOCUMENT_BASED', ...stamps });
  }

  insert(ids: readonly string[]): Promise<void> {
    const documents = ids.map((_id) => ({ _id, ...this.#whole() }));
    const writes = documents.flatMap(({ _id, ...order }) => writesOf(_id, order));
    return this.note(`insert ${ids}`, { writes, creates: ids }, async () => {
      await this.#orders.insertMany(documents);
      return true;
    });
  }

  protected makeChange(ids: readonly string[]): Promise<void> {
    const id = this.random.pick(ids);
    const kind = this.random.below(10);
    if (kind === 0) return this.insert([id]);
    if (kind < 4) return this.#set(id, this.random.pick(['x', 'y']));
    if (kind < 7) return this.#add(id);
    if (kind === 7) return this.#replace(id);
    if (kind === 8) return this.#archive(id, this.random.chance(0.7));
    const parts = { overwrites: [{ id, field: undefined }], deletes: id };
    return this.note(`delete ${id}`, parts, () => this.#orders.delete(id));
  }

  #set(id: string, field: 'x' | 'y'): Promise<void> {
    const token = this.token();
    const parts = { writes: [{ id, field, token }], overwrites: [{ id, field }] };
    const run = async () => (await this.#orders.patch(id, { [field]: token })) !== undefined;
    return this.note(`set ${id}.${field} ${token}`, parts, run);
  }

  #add(id: string): Promise<void> {
    const token = this.token();
    const run = async () => (await this.#orders.patch(id, { $push: { l: token } })) !== undefined;
    return this.note(`push ${id} ${token}`, { writes: [{ id, field: 'l', token }] }, run);
  }

  #replace(id: string): Promise<void> {
    const order = this.#whole();
    const parts = { writes: writesOf(id, order), overwrites: [{ id, field: undefined }] };
    const run = async () => (await this.#orders.update(id, order)) !== undefined;
    return this.note(`update ${id} ${order.x}`, parts, run);
  }

  #archive(id: string, isArchived: boolean): Promise<void> {
    return this.note(`archive ${id} ${isArchived}`, {}, () =>
      isArchived ? this.#orders.archive(id) : this.#orders.unarchive(id),
    );
  }

  protected async documents(): Promise<Map<string, object>> {
    const all = await this.#orders.filter({}, { archived: true });
    return new Map(all.map((one) => [one._id, one]));
  }

  #whole(): Required<Order> {
    return { x: this.token(), y: this.token(), l: [this.token()] };
  }
}

/** The tokens of an order, with their fields. */
export function writesOf(id: string, { x, y, l }: Required<Order>) {
  return [
    { id, field: 'x', token: x },
    { id, field: 'y', token: y },
    ...l.map((token) => ({ id, field: 'l', token })),
  ];
}
