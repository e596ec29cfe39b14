import { serialize } from 'node:v8';
import { describe, expect, test } from 'vitest';
import { Random } from '../setup/random.ts';
import { type FaultyDriver, faultyDriver } from '../storage/faulty-driver.ts';
import { openClient } from './engine-client.ts';

/** A collection that counts the bytes inserted and the bytes written. */
class Meter {
  readonly driver: FaultyDriver = faultyDriver();
  readonly random = new Random(20);
  inserted = 0;
  readonly #client = openClient(this.driver).client;
  readonly notes = new this.#client.Collection<any>({
    name: 'notes',
    type: 'DOCUMENT_BASED',
    id_length: 16,
    save_timeout: 3600,
    save_directly_after: 1_000_000,
  });

  /** A document with `length` characters. */
  document(size = 280): object {
    const text = 'x'.repeat(size - 60);
    const document = { name: `n${this.random.next()}`, age: this.random.below(99), text };
    this.inserted += JSON.stringify(document).length + 16;
    return document;
  }

  save(): Promise<void> {
    return this.#client.save();
  }

  /** Bytes written for each byte inserted, manifests and all. */
  async ratio(): Promise<number> {
    await this.#client.close();
    const written = this.driver.batches.flat().reduce((sum, { ...operation }) => {
      return operation.type === 'put' ? sum + serialize(operation.value).length : sum;
    }, 0);
    return written / this.inserted;
  }
}

describe('at most three bytes are written for each one inserted', () => {
  test('by bulk inserts', async () => {
    const meter = new Meter();
    for (let batch = 0; batch < 10; batch++) {
      await meter.notes.insertMany(Array.from({ length: 2000 }, () => meter.document()));
      await meter.save();
    }
    expect(await meter.ratio()).toBeLessThan(1.3);
  });

  test('by single inserts, saved five by five', async () => {
    const meter = new Meter();
    for (let n = 0; n < 10_000; n++) {
      await meter.notes.insert(meter.document());
      if (n % 5 === 4) await meter.save();
    }
    expect(await meter.ratio()).toBeLessThan(3);
  });

  test('by saves of almost one full segment each', async () => {
    const meter = new Meter();
    for (let n = 0; n < 200; n++) {
      await meter.notes.insert(meter.document(20_000 + meter.random.below(43_000)));
      await meter.save();
    }
    expect(await meter.ratio()).toBeLessThan(3);
  });

  test('by random updates of 20,000 documents', async () => {
    const meter = new Meter();
    const ids: string[] = [];
    const documents = Array.from({ length: 20_000 }, () => meter.document());
    for (const { _id } of await meter.notes.insertMany(documents)) ids.push(_id);
    await meter.save();
    for (let n = 0; n < 30_000; n++) {
      const id = meter.random.pick(ids);
      await meter.notes.update(id, meter.document());
      if (n % 50 === 49) await meter.save();
    }
    expect(await meter.ratio()).toBeLessThan(3);
  });

  test('by inserts, updates and deletes, mixed', async () => {
    const meter = new Meter();
    const ids: string[] = [];
    for (let n = 0; n < 20_000; n++) {
      const at = meter.random.below(ids.length);
      const what = meter.random.next();
      if (what < 0.5 || ids.length === 0)
        ids.push((await meter.notes.insert(meter.document()))._id);
      else if (what < 0.75) await meter.notes.update(ids[at] as string, meter.document());
      else await meter.notes.delete(ids.splice(at, 1)[0] as string);
      if (n % 10 === 9) await meter.save();
    }
    expect(await meter.ratio()).toBeLessThan(3);
  });

  test('by one counter among constant documents', async () => {
    const meter = new Meter();
    await meter.notes.insertMany(Array.from({ length: 200 }, () => meter.document()));
    const { _id } = await meter.notes.insert(meter.document());
    await meter.save();
    for (let n = 0; n < 2000; n++) {
      await meter.notes.update(_id, meter.document(80));
      await meter.save();
    }
    // A save of a hundred bytes is mostly overhead.
    const around = 2000 * serialize({ number: 1, after: 1, deletes: [], keys: [], size: 1 }).length;
    meter.inserted += around;
    expect(await meter.ratio()).toBeLessThan(3);
  });

  test('by large documents, interleaved with small ones that change all the time', async () => {
    const meter = new Meter();
    const small: string[] = [];
    for (let n = 0; n < 40; n++) {
      small.push((await meter.notes.insert(meter.document(100)))._id);
      await meter.notes.insert(meter.document(60_000));
    }
    await meter.save();
    for (let round = 0; round < 100; round++) {
      for (const id of small) await meter.notes.update(id, meter.document(100));
      await meter.save();
    }
    expect(await meter.ratio()).toBeLessThan(3);
  });
});
