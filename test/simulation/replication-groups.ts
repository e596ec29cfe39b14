import { isDeepStrictEqual } from 'node:util';
import type { PipelineStage } from '../../src/index.ts';
import type { DocumentCollection } from '../../src/page/collections/document-collection.ts';
import type { LiveQuery } from '../../src/page/live/live-query.ts';
import { GROUPS, type Order } from './replication-client.ts';
import { shown } from './replication-log.ts';
import type { Tab } from './tab.ts';

/** A document of a collection that does not replicate. */
interface Group {
  readonly _id: string;
  readonly g: number;
}

type Found = Order & { readonly _id: string };

const PIPELINE: PipelineStage[] = [
  { $lookup: { from: 'groups', localField: 'g', foreignField: 'g', as: 'groups' } },
  { $unwind: { path: '$groups', preserveNullAndEmptyArrays: true } },
  { $group: { _id: '$groups._id', ids: { $push: '$_id' } } },
  { $sort: { _id: 1 } },
];

/** What a tab sees of orders that replicate and groups that do not, once and live. */
export class GroupViews {
  readonly #groups: DocumentCollection<Group>;
  readonly #orders: DocumentCollection<Order>;
  readonly #lives: readonly LiveQuery<unknown>[];

  constructor({ db }: Tab, options: object) {
    const both = { type: 'DOCUMENT_BASED', ...options } as const;
    this.#groups = new db.Collection<Group>({
      ...both,
      name: 'groups',
      relations: { orders: { many: () => this.#orders, from: 'g', to: 'g' } } as never,
    }) as never;
    this.#orders = new db.Collection<Order>({
      ...both,
      name: 'orders',
      relations: {
        group: { one: () => this.#groups, from: 'g', to: 'g' },
        mates: { many: () => this.#orders, from: 'g', to: 'g' },
      } as never,
    }) as never;
    this.#lives = this.#asked.map(({ live }) => live());
    for (const live of this.#lives) live.subscribe(() => undefined);
  }

  /** Makes the groups, unless they are there. */
  readonly prepare = async (): Promise<void> => {
    for (let g = 0; g < GROUPS; g++) await this.#groups.upsert({ _id: `g${g}`, g });
  };

  /** The same questions, as calls and as live queries. */
  get #asked() {
    const [groups, orders] = [this.#groups, this.#orders] as unknown as DocumentCollection[];
    const list = (of: DocumentCollection | undefined, criteria: object, options: object) => ({
      once: (): Promise<unknown> => (of as DocumentCollection).filter(criteria, options as never),
      live: () => (of as DocumentCollection).live(criteria, options as never) as LiveQuery<unknown>,
    });
    return [
      list(
        groups,
        {},
        { include: { orders: { select: ['x'], include: { mates: { limit: 2 } } } } },
      ),
      list(orders, { group: { $some: { g: { $gte: 1 } } } }, { include: { group: true } }),
      list(orders, { mates: { $none: { x: { $exists: false } } } }, { select: ['g'] }),
      {
        once: (): Promise<unknown> => this.#orders.aggregate(PIPELINE),
        live: () => this.#orders.liveAggregate(PIPELINE) as LiveQuery<unknown>,
      },
    ];
  }

  /** What is wrong at rest. */
  async problems(): Promise<string[]> {
    const orders: readonly Found[] = await this.#orders.filter({});
    const groups = await this.#groups.filter({});
    const results = await Promise.all(this.#asked.map(({ once }) => once()));
    const problems: string[] = [];
    const compare = (what: string, found?: object, expected?: object) => {
      if (isDeepStrictEqual(found, expected)) return;
      problems.push(`${what} ${shown(found)} instead of ${shown(expected)}`);
    };
    for (const [at, live] of this.#lives.entries()) {
      const { status, data, error } = live.getSnapshot();
      compare(`live query ${at} is ${status}, ${error}:`, data as object, results[at] as object);
    }
    const idsOf = (found: unknown) => (found as Found[]).map(({ _id }) => _id);
    const [included, some, none, looked] = results as readonly (readonly never[])[];
    const within = (g: number) => orders.filter((one) => one.g === g);
    compare(
      'the groups have',
      included?.map((one: Group & { orders: (Found & { mates: Found[] })[] }) => [
        one._id,
        one.orders.map(({ _id, x, mates }) => [_id, x, idsOf(mates)]),
      ]),
      groups.map(({ _id, g }) => [
        _id,
        within(g).map((one) => [one._id, one.x, idsOf(within(g).slice(0, 2))]),
      ]),
    );
    compare('of some groups are', idsOf(some), idsOf(orders.filter(({ g = 0 }) => g >= 1)));
    const isWhole = ({ g }: Found) =>
      orders.every((mate) => !isMate(mate.g, g) || mate.x !== undefined);
    compare('none without x has', idsOf(none), idsOf(orders.filter(isWhole)));
    const named = groups.filter(({ g }) => within(g).length > 0);
    const without = orders.filter(({ g }) => g === undefined);
    compare(
      'looked up are',
      looked?.map(({ _id, ids }: { _id: string; ids: string[] }) => [_id, ids]),
      [
        ...(without.length > 0 ? [[null, idsOf(without)]] : []),
        ...named.map(({ _id, g }) => [_id, idsOf(within(g))]).sort(),
      ],
    );
    return problems;
  }
}

/** What has no group has no mates. */
function isMate(one: number | undefined, other: number | undefined): boolean {
  return one !== undefined && one === other;
}
