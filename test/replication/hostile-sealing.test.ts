import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { isEarlier } from '../../src/engine/replication/held-version.ts';
import { ReplicationError } from '../../src/errors/replication-error.ts';
import { http, type Remote } from '../../src/replication/index.ts';
import { documentFiles, memoryFiles } from '../../src/server/files/index.ts';
import { createHandler, memory } from '../../src/server/index.ts';
import { Random } from '../setup/random.ts';
import { closeDevices, Device } from './device.ts';

const CASES = 160 * inject('effort');
const KEY = new Uint8Array(32).fill(7);

/** Errors of a server that nobody can trust. */
const TYPED = ['seal_broken', 'key_unknown', 'answer_invalid', 'remote_refused', 'remote_failed'];
const OF_FILES = ['file_damaged', ...TYPED];

type Json = Record<string, any>;

/** A server with the documents and files of a device, which answers as an attacker likes. */
class Traitor {
  /** Changes the JSON of an answer. */
  lie: (answer: Json) => void = () => undefined;
  /** Changes the bytes of a file. */
  forge: (bytes: Buffer, url: string) => Uint8Array | Promise<Uint8Array> = (bytes) => bytes;
  readonly remote: Remote<string>;
  readonly store = memory();
  readonly handler = createHandler({
    ...{ store: this.store, authorize: () => true, hold: 1 },
    files: documentFiles({ store: memoryFiles() }),
  });
  device!: Device & { orders: any };
  /** Rows as they were on the wire, at any time. */
  readonly seen: Json[] = [];
  readonly contents = new Map<string, Buffer>();
  truth!: ReadonlyMap<string, { readonly version: string; readonly document?: unknown }>;

  constructor(ids: boolean) {
    this.remote = http({
      url: 'https://example.com/orders',
      encrypt: { key: KEY, clear: ['group'], ...(ids && { ids: KEY }) },
      fetch: async (url, init) => {
        const response = await this.handler(new Request(url, init));
        if (!/json/.test(response.headers.get('content-type') ?? '')) {
          const bytes = Buffer.from(await response.arrayBuffer());
          return new Response((await this.forge(bytes, url)) as never, response);
        }
        const answer = (await response.json()) as Json;
        this.lie(answer);
        return Response.json(answer, { status: response.status });
      },
    });
  }

  async open(): Promise<void> {
    const writer = new Device(this.remote, { files: 'lazy' }) as Device & { orders: any };
    const { orders } = writer;
    for (let nth = 0; nth < 6; nth++) {
      const files = [0, 1].slice(0, nth % 3).map((at) => {
        const content = randomBytes(500 + nth);
        this.contents.set(`o${nth} photos.${at}`, content);
        return new Blob([content]);
      });
      await orders.insert({ _id: `o${nth}`, group: `g${nth % 2}`, note: 'n', photos: files });
    }
    await writer.settled();
    await this.#note();
    for (const id of ['o1', 'o2', 'o3']) await orders.patch(id, { note: 'later', group: 'g2' });
    await writer.settled();
    await this.#note();
    await writer.close();
    const { changes } = await this.pull();
    this.truth = new Map(changes.map((one) => [one.id, one]));
    this.device = new Device(this.remote, { files: 'lazy', live: false }) as never;
    await this.device.settled();
  }

  async #note(): Promise<void> {
    const { changes } = await this.store.pull('orders', undefined, 100);
    this.seen.push(...structuredClone(changes as readonly Json[]));
  }

  pull() {
    return this.remote.pull(undefined, { limit: 100, signal: new AbortController().signal });
  }
}

/** What a server can do to a row that it sends. */
function rowAttack(random: Random, { seen }: Traitor): (row: Json) => unknown {
  const other = () => structuredClone(random.pick(seen)) as Json;
  const odd = () =>
    random.pick<unknown>([null, 0, '', 'x', [], {}, [{}], { $date: 1 }, { $file: 1 }, '\u0000']);
  const text = (row: Json): string => String(row.document?._sealed ?? '');
  const put = (fields: object) => (row: Json) => Object.assign(row.document ?? {}, fields);
  return random.pick<(row: Json) => unknown>([
    (row) => put({ _sealed: text(row).slice(0, random.below(text(row).length)) })(row),
    (row) => {
      const [all, at] = [text(row), random.below(text(row).length)];
      const letter = random.pick(['A', 'b', '0', '.', '=', ' ']);
      put({ _sealed: all.slice(0, at) + letter + all.slice(at + 1) })(row);
    },
    (row) => put({ _sealed: other().document._sealed })(row),
    (row) => put({ ...other().document, _id: row.id })(row),
    (row) => Object.assign(row, { document: other().document }),
    (row) => Object.assign(row, { id: other().id }),
    (row) => {
      row.id = other().id;
      put({ _id: row.id })(row);
    },
    (row) => Object.assign(row, other()),
    (row) => put({ _sealed: odd() })(row),
    (row) => delete row.document?._sealed,
    (row) => {
      const parts = text(row).split('.');
      parts[random.below(4)] = random.pick(['0', '1', '2', '9', 'x', '0123456789abcdef']);
      put({ _sealed: parts.join('.') })(row);
    },
    (row) => put({ _files: other().document._files ?? [] })(row),
    (row) => put({ _files: odd() })(row),
    (row) => delete row.document?._files,
    (row) => put({ _files: [...(row.document?._files ?? [])].reverse() })(row),
    (row) => {
      const [first] = row.document?._files ?? [];
      if (first) first.$plain.$file.size++;
    },
    (row) => {
      const [first] = row.document?._files ?? [];
      if (first) first.$plain.$file.sha256 = 'a'.repeat(64);
    },
    (row) => put({ group: random.pick(['g0', 'g1', 'g2', odd()]) })(row),
    (row) => delete row.document?.group,
    (row) => put({ note: 'forged' })(row),
    (row) => put(JSON.parse('{"__proto__":{"group":"g0"}}'))(row),
    (row) => put({ photos: odd() })(row),
    (row) => Object.assign(row, { version: random.pick<unknown>(['', 'x', 1, null, '\u0001']) }),
    (row) => Object.assign(row, { id: odd() }),
    (row) => put({ _sealed: `${text(row)}${text(row)}` })(row),
  ]);
}

/** Every state is that of a device, of this document; what is older says so. */
function expectHonest({ truth }: Traitor, id: string, version: string, document: unknown): void {
  const known = truth.get(id);
  expect(known, id).toBeDefined();
  if (isEarlier(version, () => known?.version)) return;
  expect(document).toEqual(known?.document);
}

async function expectTyped(made: Promise<unknown>, codes = TYPED): Promise<unknown> {
  try {
    return await made;
  } catch (error) {
    expect(error, String(error)).toBeInstanceOf(ReplicationError);
    expect(codes).toContain((error as ReplicationError).code);
    return undefined;
  }
}

describe.each([
  ['readable', false],
  ['encrypted', true],
])('a server that nobody can trust, with %s ids', (_, ids) => {
  let traitor: Traitor;

  beforeAll(async () => {
    traitor = new Traitor(ids);
    await traitor.open();
  });

  afterAll(closeDevices);

  const cases = Array.from({ length: CASES }, (__, at) => at + inject('seed') * 1000);

  test.each(cases)('sends nothing that a device takes for true, case %i', async (seed) => {
    const random = new Random(seed);
    const attacks = Array.from({ length: 1 + random.below(2) }, () => rowAttack(random, traitor));
    const attack = (rows: Json[]) => {
      for (const one of attacks) one(random.pick(rows));
      if (random.chance(0.1)) rows.push(structuredClone(random.pick(rows)));
      if (random.chance(0.1)) rows.sort(() => random.next() - 0.5);
    };
    traitor.lie = ({ changes }) => changes && attack(changes);
    const page = (await expectTyped(traitor.pull())) as Awaited<ReturnType<Traitor['pull']>>;
    for (const { id, version, document } of page?.changes ?? [])
      if (document) expectHonest(traitor, id, version, document);
    // As answers to a push, too: as conflicts, and as what others have made of it.
    traitor.lie = ({ results }) => {
      if (!results) return;
      const rows = results.map((one: Json) => one.conflict);
      attack(rows);
      for (const [at, row] of rows.entries())
        if (random.chance(0.3)) results[at] = { version: row.version, document: row.document };
        else results[at] = { conflict: row };
    };
    const rows = ['o1', 'o2', 'o4'].map((id) => ({
      ...{ id, base: undefined, key: `r.${seed}${id}`, document: { _id: id, mine: 1 } },
    }));
    const ask = { signal: new AbortController().signal };
    const results = (await expectTyped(traitor.remote.push(rows, ask))) as Json[];
    for (const [at, result] of (results ?? []).entries()) {
      const { version, document } = result.conflict ?? result;
      const { id } = rows[at] as { id: string };
      if (result.conflict) expect(result.conflict.id).toBe(id);
      if (document) expectHonest(traitor, id, version, document);
    }
    traitor.lie = () => undefined;
  });

  test.each(cases.slice(0, CASES / 4))(
    'sends no file that a device takes for another, case %i',
    async (seed) => {
      const random = new Random(seed);
      const [place] = random.pick([...traitor.contents]);
      const [id, path] = place.split(' ') as [string, string];
      const hashes = traitor.seen.flatMap(({ document }) =>
        (document?._files ?? []).map((one: Json) => one.$plain.$file.sha256 as string),
      );
      const ofAnother = async (url: string) => {
        const sha256 = random.pick(hashes.filter((one) => !url.includes(one)));
        const swapped = url.replace(/files\/[\da-f]{64}/, `files/${sha256}`);
        const response = await traitor.handler(new Request(swapped));
        return new Uint8Array(await response.arrayBuffer());
      };
      const flipped = (bytes: Buffer) => {
        const at = random.below(bytes.length);
        return Uint8Array.from(bytes, (byte, nth) => (nth === at ? byte ^ 1 : byte));
      };
      const forge = random.pick<Traitor['forge']>([
        flipped,
        (bytes) => bytes.subarray(0, random.below(bytes.length)),
        (bytes) => Buffer.concat([bytes, randomBytes(1 + random.below(100))]),
        (bytes) => randomBytes(bytes.length),
        (bytes) => Buffer.alloc(bytes.length),
        (_bytes, url) => ofAnother(url),
        () => traitor.contents.get(place) as Buffer,
        () => Buffer.alloc(2 * 1024 * 1024),
      ]);
      traitor.forge = forge;
      expect(
        await expectTyped(traitor.device.sync.file(id, path), OF_FILES),
        String(forge),
      ).toBeUndefined();
      traitor.forge = (bytes) => bytes;
    },
  );

  test('and gives what is true afterwards', async () => {
    const { device, contents } = traitor;
    for (const [place, content] of contents) {
      const [id, path] = place.split(' ') as [string, string];
      const loaded = await device.sync.file(id, path);
      expect(Buffer.from(await (loaded as Blob).arrayBuffer()).equals(content)).toBe(true);
    }
    const reader = new Device(traitor.remote, { live: false });
    await reader.settled();
    expect(Object.keys(await reader.all()).sort()).toEqual([...traitor.truth.keys()].sort());
    await reader.close();
  });
});
