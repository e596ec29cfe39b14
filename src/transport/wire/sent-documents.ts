import type { Body } from '../../codec/body.ts';
import type { ManagedColumns } from '../../engine/protocol/managed-columns.ts';
import type { Request, ScanReply } from '../../engine/protocol/requests.ts';
import type {
  FoundVersions,
  SentVersions,
  SharedAsk,
} from '../../engine/protocol/shared-protocol.ts';
import { versionNumber } from '../../engine/records/record-versions.ts';
import type { StoredRecord } from '../../storage/segments/stored-record.ts';

/** Replies of one cache that it has not confirmed, at most: an aborted call confirms none. */
const MOST_UNCONFIRMED = 256;

/** What the cache of a handle holds, as far as it has confirmed it. */
interface Held {
  readonly cache: number;
  /** By id, the version that it has. */
  readonly versions: Map<string, StoredRecord>;
  /** What replies carried, by their numbers. */
  readonly unconfirmed: Map<number, readonly StoredRecord[]>;
}

/** Leaves out of replies what the caches of a client have: an unchanged document is sent once. */
export class SentDocuments {
  readonly #held = new Map<number, Held>();
  /** Begins anywhere: a client may confirm the replies of an earlier engine. */
  #replies = Math.random();

  /** The reply to a request as its client gets it. */
  reply(request: Request, value: unknown): unknown {
    if (request.op === 'drop') this.#held.delete(request.handle);
    const ask = 'shared' in request ? request.shared : undefined;
    if (!ask || value === undefined) return value;
    const held = this.#heldBy(request.handle, ask);
    if (request.op === 'getShared') return this.#send(held, value as FoundVersions);
    const reply = value as ScanReply;
    return { ...reply, shared: this.#send(held, reply.shared as FoundVersions) };
  }

  #heldBy(handle: number, { cache, received }: SharedAsk): Held {
    let held = this.#held.get(handle);
    if (held?.cache !== cache) {
      const isOld = held && held.cache > cache;
      held = { cache, versions: new Map(), unconfirmed: new Map() };
      // A late request of an earlier cache gets everything.
      if (!isOld) this.#held.set(handle, held);
    }
    for (const number of received) {
      for (const record of held.unconfirmed.get(number) ?? [])
        held.versions.set(record.key, record);
      held.unconfirmed.delete(number);
    }
    return held;
  }

  #send({ versions, unconfirmed }: Held, { records, bodies }: FoundVersions): SentVersions {
    const numbers = Float64Array.from(records, versionNumber);
    const sent: StoredRecord[] = [];
    const places: number[] = [];
    for (const [place, record] of records.entries()) {
      if (!record || versions.get(record.key) === record) continue;
      places.push(place);
      sent.push(record);
    }
    const reply = ++this.#replies;
    if (sent.length > 0) unconfirmed.set(reply, sent);
    if (unconfirmed.size > MOST_UNCONFIRMED) {
      const [oldest] = unconfirmed.keys();
      unconfirmed.delete(oldest as number);
    }
    const columns: ManagedColumns = {
      keys: sent.map(({ key }) => key),
      flags: Uint8Array.from(sent, ({ flags }) => flags),
      stamps: sent.some(({ stamps }) => stamps) ? sent.map(({ stamps }) => stamps) : undefined,
    };
    return {
      ...{ versions: numbers, places, columns, reply },
      bodies: places.map((place) => bodies[place] as Body),
    };
  }
}
