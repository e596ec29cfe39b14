import { beforeEach, expect, inject, test } from 'vitest';
import { createHandler, type Handler, type Store } from '../../src/server/index.ts';
import { Random } from '../setup/random.ts';
import { request, URL_OF } from './requests.ts';

/** The attacker. */
const EVE = 'eve';
const USERS = ['ada', 'ben', EVE];

interface Job {
  readonly owner: string;
  /** Found in an answer, it was read. */
  readonly secret: string;
  readonly shared?: boolean;
  readonly n: number;
  readonly list: readonly unknown[];
}

let store: Store;
let handler: Handler;
/** Keys and versions of all pushes: what an attacker may have seen in a log. */
let seen: { readonly keys: string[]; readonly versions: string[]; readonly checkpoint: string };

const userOf = (asked: Request) => asked.headers.get('x-user') ?? '';

/** Over an empty store. */
async function begin(empty: Store): Promise<void> {
  store = empty;
  handler = createHandler({
    store,
    onError: () => undefined,
    hold: 1,
    authorize: (asked, collection) => {
      const user = userOf(asked);
      if (user === '') return undefined;
      if (collection !== 'jobs') return collection === `notes of ${user}`;
      return {
        read: (job) => job.owner === user || job.shared === true,
        write: (job) => job.owner === user,
      };
    },
    scopes: {
      // A scope is no right: this one has what anybody names.
      owner: (owner) => (typeof owner === 'string' ? { owner } : false),
      mine: (_, asked) => ({ owner: userOf(asked) }),
      team: (team, asked) => team === userOf(asked) && { owner: { $in: [team, 'ben'] } },
    },
  });
  const rows = USERS.flatMap((owner) =>
    [0, 1, 2].map((n) => {
      const secret = `secret of ${owner} ${n}`;
      const document = {
        _id: `${owner}${n}`,
        owner,
        secret,
        shared: n === 2,
        n,
        list: [n, secret],
      };
      return { id: document._id, key: `${owner}-device.${n}`, document };
    }),
  );
  const made = await store.push('jobs', rows as never);
  await store.push('notes of ada', [
    { id: 'note', key: 'ada-device.9', document: { _id: 'note', secret: 'secret of ada 0' } },
  ] as never);
  const { checkpoint } = await store.pull('jobs', undefined, 100);
  seen = {
    keys: rows.map(({ key }) => key),
    versions: made.map((one) => (one as { version: string }).version),
    checkpoint,
  };
}

const isEves = (job: Partial<Job>) => job.owner === EVE;
const mayRead = (job: Partial<Job>) => isEves(job) || job.shared === true;

/** What a request cannot have: values, with the name of what they try. */
function attacks(random: Random) {
  const victim = () => `${random.pick(['ada', 'ben'])}${random.below(3)}`;
  const id = () =>
    random.pick([victim(), victim(), `${EVE}${random.below(3)}`, 'new', '__proto__']);
  const text = () => random.pick(['ada', 'ben', EVE, '', '*', '__proto__', '\u0000']);
  const odd = () =>
    random.pick<unknown>([
      ...[null, 0, 1e300, true, [], {}, { $ne: 1 }, { $regex: '' }, { owner: 'ada' }],
      ...[{ $gt: '' }, ['ada'], { toString: 1 }, JSON.parse('{"__proto__":{"owner":"eve"}}')],
    ]);
  const scope = () =>
    random.pick<unknown>([
      ...[
        { owner: 'ada' },
        { team: EVE },
        { owner: text() },
        { owner: odd() },
        { mine: odd() },
        { team: text() },
        { team: odd() },
      ],
      ...[{ constructor: 1 }, { hasOwnProperty: 'owner' }, { owner: 'ada', mine: 1 }, 'owner'],
      ...[JSON.parse('{"__proto__":"ada"}'), [{ owner: 'ada' }], null],
    ]);
  const version = () =>
    random.pick<unknown>([...seen.versions, null, '0', '1', 'none', '__proto__', 7]);
  const after = () => {
    const [epoch] = seen.checkpoint.split('.');
    const hash = random.pick(['none', '0'.repeat(24), '', '~~', 'a'.repeat(150)]);
    return random.pick<unknown>([
      ...[null, null, seen.checkpoint, `${epoch}.0`, `${epoch}.3`, '0.0', `${epoch}.-1`],
      ...[`${epoch}.0~${hash}`, `${seen.checkpoint}~${hash}`, `~${hash}`, 5, {}],
    ]);
  };
  const document = (_id: string) => ({
    _id: random.chance(0.9) ? _id : victim(),
    ...{ owner: random.pick([EVE, EVE, EVE, 'ada', undefined]), n: 66, list: ['eve was here'] },
    ...(random.chance(0.3) && { shared: true }),
    ...(random.chance(0.2) && JSON.parse('{"__proto__":{"owner":"ada"}}')),
  });
  const operation = () =>
    random.pick<unknown>([
      ...[
        ['$inc', 'n', 66],
        ['$mul', 'n', 0],
        ['$min', 'n', -66],
        ['$max', 'n', 66],
      ],
      ...[
        ['$push', 'list', 'eve was here'],
        ['$addToSet', 'list', 66],
        ['$pull', 'list', {}],
      ],
      ...[
        ['$set', 'owner', EVE],
        ['$unset', 'owner', 1],
        ['$rename', 'owner', 'former'],
      ],
      ...[
        ['$push', 'owner', EVE],
        ['$max', 'owner', EVE],
        ['$min', 'owner', EVE],
      ],
      ...[
        ['$max', 'shared', true],
        ['$inc', '__proto__.n', 1],
        ['$inc', 'constructor.n', 1],
      ],
      ...[
        ['$pull', 'list', { $where: 'true' }],
        ['$push', 'list', { $each: [1], $slice: 0 }],
      ],
      ...[['$inc', '_id', 1], ['$max', '_id', 'ada0'], ['$inc'], 'inc', [['$inc', 'n', 1]]],
    ]);
  const key = () =>
    random.pick<unknown>([
      ...seen.keys,
      ...[`eve-device.${random.below(1000)}`, 'x', '', 'ada-device.', '.', 9],
    ]);
  const row = () => {
    const of = id();
    const kind = random.below(4);
    return {
      ...{ id: of, base: version(), key: key() },
      ...(kind === 0 ? { deleted: true } : { document: document(of) }),
      ...(kind > 1 && { operations: Array.from({ length: 1 + random.below(3) }, operation) }),
      ...(random.chance(0.1) && { seen: version(), scope: scope() }),
    };
  };
  return { scope, after, row, odd };
}

function attack(random: Random): { readonly url: string; readonly body: unknown } {
  const { scope, after, row, odd } = attacks(random);
  const named = () =>
    random.pick([
      ...['jobs', 'jobs', 'jobs', 'jobs', 'notes of ada', 'notes of eve', '../jobs', 'jobs/'],
      ...['notes of eve/../notes of ada', 'JOBS', 'jobs\u0000', '__proto__'],
    ]);
  const collection = named();
  const kind = random.below(12);
  const url = (call: string) => URL_OF(collection, call);
  if (kind < 4) {
    const limit = random.pick<unknown>([1, 2, 1000, undefined, 0, -1, 1e9, '5']);
    const body = { after: after(), limit, ...(random.chance(0.8) && { scope: scope() }) };
    return { url: url('pull'), body };
  }
  if (kind > 9) {
    const streamed = () => ({
      ...{ name: random.chance(0.8) ? 'jobs' : named(), after: after() ?? '0.0' },
      ...(random.chance(0.7) && { scope: scope() }),
    });
    const collections = Array.from({ length: 1 + random.below(3) }, streamed);
    return {
      url: URL_OF(random.chance(0.8) ? 'jobs' : collection, 'stream'),
      body: { collections },
    };
  }
  if (kind < 9)
    return { url: url('push'), body: { rows: Array.from({ length: 1 + random.below(5) }, row) } };
  return { url: url(random.pick(['watch', 'pull', 'files', 'constructor'])), body: odd() };
}

/** The body of an answer; of a stream, what comes while others change their documents. */
async function bodyOf(response: Response): Promise<string> {
  if (response.headers.get('content-type') !== 'text/event-stream') return response.text();
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  const read = async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read())
      text += Buffer.from(part.value).toString();
  };
  const reading = read();
  for (const { id, version: base, document } of (await store.pull('jobs', undefined, 100)).changes)
    if (document)
      await store.push('jobs', [
        { id, base, key: `office.${changes++}`, document: { ...document, changes } },
      ]);
  for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve));
  await reader.cancel();
  await reading;
  streamed += text.length;
  return text;
}

let changes = 0;
/** Characters of all streams. */
let streamed = 0;

/** All that is stored, by id. */
async function stored(): Promise<Map<string, Partial<Job> | null>> {
  const { changes } = await store.pull('jobs', undefined, 1000);
  return new Map(changes.map(({ id, document }) => [id, (document as Job | undefined) ?? null]));
}

/**
 * What a user who may do little cannot do.
 *
 * @param open Makes an empty store.
 * @param cases How many, of three requests each.
 */
export function hostileRequests(open: () => Promise<Store> | Store, cases: number): void {
  beforeEach(async () => begin(await open()));

  test.each(Array.from({ length: cases }, (_, at) => at + inject('seed') * 1000))(
    'reads and writes nothing else by request %i',
    async (seed) => {
      const random = new Random(seed);
      const before = await stored();
      for (let step = 0; step < 3; step++) {
        const present = await stored();
        const { url, body } = attack(random);
        const user = random.chance(0.95) ? EVE : '';
        const response = await handler(
          request(url, body, {
            headers: { 'content-type': 'application/json', ...(user && { 'x-user': user }) },
          }),
        );
        expect([200, 400, 401, 403, 404, 413, 503]).toContain(response.status);
        const known = await stored();
        const text = await bodyOf(response);
        const shown = (id: string) => JSON.stringify({ url, body, id, text });
        for (const [id, job] of present)
          if (job?.secret && !(user && mayRead(job)))
            expect(text.includes(job.secret), shown(id)).toBe(false);
        for (const [id, job] of present) {
          if (job && isEves(job) && user) continue;
          if (job) expect(known.get(id), shown(id)).toEqual(job);
        }
        // What is new is hers.
        for (const [id, job] of known)
          if (job && !before.has(id)) expect(job.owner, shown(id)).toBe(EVE);
      }
      const [note] = await store.read('notes of ada', ['note']);
      expect(note?.document).toMatchObject({ secret: 'secret of ada 0' });
      expect(({} as Partial<Job>).owner).toBeUndefined();
    },
  );

  test('has heard of documents by streams', () => {
    expect(streamed).toBeGreaterThan(1000);
  });
}
