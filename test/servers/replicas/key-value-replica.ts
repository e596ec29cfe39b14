import type { Database } from '../../../src/index.ts';
import type { replicate } from '../../../src/replication/index.ts';
import { writesOf } from './document-replica.ts';
import { Replica } from './replica.ts';

/** A client with a collection of keys and values. */
export class KeyValueReplica extends Replica {
  #settings!: ReturnType<KeyValueReplica['openSettings']>;

  protected openIn(db: Database): Parameters<typeof replicate>[0] {
    this.#settings = this.openSettings(db);
    return this.#settings;
  }

  openSettings(db: Database) {
    return new db.Collection({ name: 'settings', type: 'KEY_VALUE_BASED' });
  }

  async insert(ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.#replace(id);
  }

  protected makeChange(ids: readonly string[]): Promise<void> {
    const id = this.random.pick(ids);
    const kind = this.random.below(8);
    if (kind === 0) return this.#replace(id);
    if (kind < 4) return this.#set(id, this.random.pick(['x', 'y']));
    if (kind < 7) return this.#add(id);
    const parts = { overwrites: [{ id, field: undefined }], deletes: id };
    return this.note(`delete ${id}`, parts, () => this.#settings.delete(id));
  }

  #replace(id: string): Promise<void> {
    const value = { x: this.token(), y: this.token(), l: [this.token()] };
    const parts = {
      ...{ writes: writesOf(id, value), overwrites: [{ id, field: undefined }], creates: [id] },
    };
    return this.note(`set ${id} ${value.x}`, parts, async () => {
      await this.#settings.set(id, value);
      return true;
    });
  }

  /** A path makes the record, where there is none. */
  #set(id: string, field: 'x' | 'y'): Promise<void> {
    const token = this.token();
    const parts = {
      ...{ writes: [{ id, field, token }], overwrites: [{ id, field }], creates: [id] },
    };
    return this.note(`set ${id}.${field} ${token}`, parts, async () => {
      await this.#settings.set(`${id}.${field}`, token);
      return true;
    });
  }

  #add(id: string): Promise<void> {
    const token = this.token();
    const parts = { writes: [{ id, field: 'l', token }], creates: [id] };
    return this.note(`push ${id}.l ${token}`, parts, async () => {
      await this.#settings.push(`${id}.l`, token);
      return true;
    });
  }

  protected async documents(): Promise<Map<string, object>> {
    const all = await this.#settings.entries();
    const managed = { _updated: false, _archived: false };
    return new Map(all.map(([_id, value]) => [_id, { _id, value, ...managed }]));
  }
}
