import { createHash, randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, inject, test } from 'vitest';
import { encodeDocument } from '../../src/codec/exact-json/wire-documents.ts';
import { documentFiles, type FileStore, memoryFiles } from '../../src/server/files/index.ts';
import { createHandler, type Handler, memory } from '../../src/server/index.ts';
import { Random } from '../setup/random.ts';
import { request, URL_OF } from './requests.ts';

/** The attacker. */
const EVE = 'eve';
const CASES = 320 * inject('effort');

/** A file of somebody, of one document. */
interface Kept {
  readonly owner: string;
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly device: string;
}

/** Where documents name files: those that are encrypted have a list beside what is sealed. */
type Form = (file: unknown) => object;
const PLAIN: Form = (file) => ({ file });
const SEALED: Form = (file) => ({ _files: [file], _sealed: '1.0123456789abcdef.life.1.AAAA' });

let handler: Handler;
let store: FileStore;
let formOf: Form;
let kept: readonly Kept[];
/** What eve may read: it is of a document that all see. */
let shared: Kept;

const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const placeholder = ({ sha256, bytes }: Kept, size = bytes.length) => ({
  $file: { sha256, size, type: '' },
});

const fileUrl = (sha256: string, query: object) =>
  `${URL_OF('jobs', 'files')}/${sha256}?${new URLSearchParams(query as Record<string, string>)}`;

const as = (user: string, url: string, method: string, body?: Uint8Array) =>
  handler(
    new Request(url, {
      ...{ method, headers: { 'x-user': user } },
      ...(body && { body: body as Uint8Array<ArrayBuffer> }),
    }),
  );

const pushed = (user: string, rows: readonly unknown[]) =>
  handler(
    request(
      URL_OF('jobs', 'push'),
      { rows },
      { headers: { 'content-type': 'application/json', 'x-user': user } },
    ),
  );

async function begin(form: Form): Promise<void> {
  formOf = form;
  store = memoryFiles();
  handler = createHandler({
    ...{ store: memory(), onError: () => undefined, files: documentFiles({ store }) },
    authorize: (asked) => {
      const user = asked.headers.get('x-user') ?? '';
      if (user === '') return undefined;
      return {
        read: (job) => job.owner === user || job.shared === true,
        write: (job) => job.owner === user,
      };
    },
  });
  kept = ['ada', 'ben', 'ben', EVE].map((owner, nth) => {
    const bytes = Buffer.concat([Buffer.from(`secret of ${owner} ${nth}`), randomBytes(200)]);
    return { owner, bytes, sha256: hashOf(bytes), device: `${owner}-device-${'x'.repeat(16)}` };
  });
  shared = kept[2] as Kept;
  for (const [nth, one] of kept.entries()) {
    const { owner, bytes, sha256, device } = one;
    const size = bytes.length;
    expect((await as(owner, fileUrl(sha256, { device, size, from: 0 }), 'PUT', bytes)).status).toBe(
      200,
    );
    const named = formOf(placeholder(one));
    const document = { _id: `${nth}`, owner, ...named, shared: one === shared };
    const wire = encodeDocument(document);
    const row = { id: `${nth}`, base: null, key: `${owner}.${nth}`, device, document: wire };
    expect(await (await pushed(owner, [row])).json()).toMatchObject({
      results: [{ version: expect.any(String) }],
    });
  }
}

/** A request that cannot get what it asks for, or may. */
function attack(random: Random): Promise<Response> {
  const target = random.pick(kept);
  const { bytes } = target;
  const user = random.chance(0.95) ? EVE : '';
  const device = random.pick([
    ...[`eve-device-${'x'.repeat(16)}`, `eve-other-${'y'.repeat(16)}`],
    ...['', 'short', '../../ada-device', `${'x'.repeat(65)}`],
  ]);
  const size = () =>
    random.pick([
      bytes.length,
      bytes.length,
      0,
      1,
      -1,
      1e12,
      Number.NaN,
      '1e2',
      `${bytes.length} `,
    ]);
  const from = () => random.pick([0, 0, 0, 1, bytes.length - 1, bytes.length, -1, 1e15, 'x']);
  const sha256 = () =>
    random.pick([
      ...[target.sha256, target.sha256, target.sha256, target.sha256.toUpperCase()],
      ...[hashOf(Buffer.from('none')), 'x', '__proto__', `${target.sha256}%2f..`],
    ]);
  const named = () => ({ $file: { sha256: target.sha256, size: size(), type: '' } });
  const kind = random.below(10);
  if (kind < 3) return as(user, fileUrl(sha256(), { from: from() }), 'GET');
  if (kind === 3) return as(user, fileUrl(sha256(), {}), 'GET');
  if (kind === 4) return as(user, fileUrl(sha256(), { device, size: size() }), 'GET');
  if (kind < 7) {
    const body = random.pick([randomBytes(bytes.length), Buffer.alloc(0), bytes.subarray(0, 1)]);
    return as(user, fileUrl(sha256(), { device, size: size(), from: from() }), 'PUT', body);
  }
  if (kind === 7) return as(user, fileUrl(sha256(), {}), random.pick(['DELETE', 'POST', 'PATCH']));
  const id = random.pick(['new', 'new', 'other', '3', '0']);
  const content = random.pick<unknown>([
    ...[
      placeholder(target),
      [placeholder(target)],
      { deep: [{ er: placeholder(target) }] },
      named(),
    ],
    ...[{ ...named(), more: 1 }, { $file: named() }, JSON.parse(`{"__proto__":{"$file":{}}}`)],
  ]);
  const given = { _id: id, owner: EVE, ...formOf(content), shared: true };
  // Mostly as a page writes it.
  const document = random.chance(0.9) ? encodeDocument(given) : given;
  const row = { id, base: random.pick([null, null, '4']), key: `eve.${random.below(1e6)}` };
  return pushed(user, [{ ...row, document, ...(random.chance(0.8) && { device }) }]);
}

describe.each([
  ['', PLAIN],
  [' that the server cannot read', SEALED],
])('a user who may read few files%s', (_, form) => {
  beforeEach(() => begin(form));

  test.each(Array.from({ length: CASES }, (_, at) => at + inject('seed') * 1000))(
    'reads, names and replaces no other by request %i',
    async (seed) => {
      const random = new Random(seed);
      for (let step = 0; step < 4; step++) {
        const response = await attack(random);
        expect([200, 206, 400, 401, 404, 405, 413, 416, 422]).toContain(response.status);
        const text = Buffer.from(await response.arrayBuffer()).toString('latin1');
        for (const { owner, bytes, sha256 } of kept)
          if (owner !== EVE && sha256 !== shared.sha256)
            expect(text.includes(bytes.subarray(-8).toString('latin1'))).toBe(false);
      }
      // What she may not read, she has not named either, to read it then.
      for (const one of kept) {
        const { owner, sha256, bytes } = one;
        const mine = await as(EVE, fileUrl(sha256, {}), 'GET');
        expect(mine.status, sha256).toBe(owner === EVE || one === shared ? 200 : 404);
        const theirs = await as(owner, fileUrl(sha256, {}), 'GET');
        expect(Buffer.from(await theirs.arrayBuffer()).equals(bytes)).toBe(true);
      }
    },
  );
});
