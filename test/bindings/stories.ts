import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { Database, type DocumentCollection, type LiveQuery } from '../../src/index.ts';
import { http, replicate } from '../../src/replication/index.ts';
import { createHandler, memory } from '../../src/server/index.ts';

/** A state that a component rendered. */
export type Rendered = Record<string, any>;

/** The hooks of a framework. Their types have tests of their own. */
export type Hooks = Record<
  | 'useLiveQuery'
  | 'useLiveDocument'
  | 'useLiveCount'
  | 'useLiveAggregate'
  | 'useLiveSearch'
  | 'useLiveValue'
  | 'useLivePages'
  | 'useDraft'
  | 'useDatabaseStatus',
  (...args: any[]) => any
>;

/** Calls a hook; `of` makes an argument that changes with the props, as the framework wants it. */
type Use = (hooks: Hooks, of: (read: () => unknown) => unknown, props: () => Rendered) => unknown;

interface Component {
  /** All states, one for each time that the component rendered. */
  readonly renders: Rendered[];
  /**
   * Changes the props; what reads or calls in the same tick sees it, in React after `flushSync`.
   */
  readonly set: (props: Rendered) => void;
  /** The state as code outside of the template reads it. */
  readonly read: () => Rendered;
  readonly unmount: () => void;
}

export interface Framework {
  readonly title: string;
  /** Whether it renders everything twice. */
  readonly rendersTwice?: boolean;
  /** An object whose fields the framework tracks. */
  readonly track: <O extends object>(fields: O) => O;
  readonly mount: (use: Use, props: Rendered) => Component;
}

interface Order {
  item: string;
  price: number;
  done?: boolean;
}

/** The stories that every binding must pass. */
export function runStories({ title, rendersTwice, track, mount }: Framework): void {
  let components: Component[] = [];
  let db: Database;
  let orders: DocumentCollection<Order>;
  let others: DocumentCollection<Order>;
  let collections = 0;

  beforeAll(() => {
    db = new Database({ name: `bindings ${title} ${Math.random()}`, storage: 'memory' });
  });
  afterAll(() => db.close());
  afterEach(() => {
    for (const { unmount } of components) unmount();
    vi.restoreAllMocks();
  });

  const render = (use: Use, props: Rendered = {}): Component => {
    const mounted = mount(use, props);
    const component = {
      ...mounted,
      unmount: () => {
        if (components.includes(component)) mounted.unmount();
        components = components.filter((each) => each !== component);
      },
    };
    components.push(component);
    return component;
  };
  const last = ({ renders }: Component) => renders.at(-1) as Rendered;
  const until = (component: Component, matches: (state: Rendered) => boolean) =>
    expect.poll(() => matches(last(component)), { interval: 5 }).toBe(true);
  const isReady = ({ status, is_stale }: Rendered) => status === 'ready' && !is_stale;
  const items = ({ data }: Rendered) => data?.map(({ item }: Order) => item).join();
  const collection = async (name: string, documents: Order[]) => {
    collections += 1;
    const made = new db.Collection<Order>({
      name: `${name} ${collections}`,
      type: 'DOCUMENT_BASED',
    });
    await made.insertMany(documents);
    return made;
  };
  /** How many readers the live queries of a collection have. */
  const watchReaders = (of: object, method = 'live') => {
    const counts = { queries: 0, readers: 0 };
    const original = (of as any)[method].bind(of);
    vi.spyOn(of as any, method).mockImplementation((...args: unknown[]) => {
      const query = original(...args) as LiveQuery<unknown>;
      counts.queries += 1;
      const subscribe = query.subscribe;
      (query as any).subscribe = (listener: () => void) => {
        counts.readers += 1;
        const stop = subscribe(listener);
        return () => {
          counts.readers -= 1;
          stop();
        };
      };
      return query;
    });
    return counts;
  };

  describe(title, () => {
    beforeAll(async () => {
      orders = await collection('orders', [
        { item: 'lamp', price: 40 },
        { item: 'desk', price: 200 },
        { item: 'pen', price: 2, done: true },
      ]);
    });

    const openOrders: Use = ({ useLiveQuery }, of) =>
      useLiveQuery(
        of(() => orders),
        of(() => ({ done: { $ne: true } })),
        of(() => ({ sort: { price: 1 } })),
      );

    test('a query is pending, then ready', async () => {
      const component = render(openOrders);
      await until(component, isReady);
      expect(component.renders[0]).toEqual({
        status: 'pending',
        data: undefined,
        error: undefined,
        is_stale: false,
      });
      expect(items(last(component))).toBe('lamp,desk');
      if (!rendersTwice) expect(component.renders).toHaveLength(2);
    });

    test('a change renders once, one that touches nothing not at all', async () => {
      const component = render(openOrders);
      await until(component, isReady);
      const before = last(component).data;
      const count = component.renders.length;
      await orders.insert({ item: 'ink', price: 3, done: true });
      const cup = await orders.insert({ item: 'cup', price: 5 });
      await until(component, ({ data }) => data.length === 3);
      if (!rendersTwice) expect(component.renders).toHaveLength(count + 1);
      expect(items(last(component))).toBe('cup,lamp,desk');
      expect(last(component).data[1]).toBe(before[0]);
      await orders.delete(cup._id);
      await until(component, ({ data }) => data.length === 2);
    });

    test('other criteria keep the data until the new is there', async () => {
      const component = render(
        ({ useLiveQuery }, of, props) =>
          useLiveQuery(
            of(() => orders),
            of(() => ({ price: { $gte: props().least } })),
            of(() => ({ sort: { price: 1 } })),
          ),
        { least: 40 },
      );
      await until(component, isReady);
      const from = component.renders.length;
      component.set({ least: 100 });
      await until(component, (state) => isReady(state) && state.data.length === 1);
      const since = component.renders.slice(from);
      expect(since.every(({ data }) => data?.length > 0)).toBe(true);
      expect(since[0]).toMatchObject({ status: 'pending', is_stale: true, error: undefined });
      expect(items(since[0]!)).toBe('lamp,desk');
      if (!rendersTwice) expect(since).toHaveLength(2);
    });

    test('data of another collection is not kept', async () => {
      others = await collection('others', [{ item: 'secret', price: 1 }]);
      const component = render(
        ({ useLiveQuery }, of, props) =>
          useLiveQuery(
            of(() => props().from),
            {},
          ),
        { from: orders },
      );
      await until(component, isReady);
      const from = component.renders.length;
      component.set({ from: others });
      await until(component, (state) => isReady(state) && items(state) === 'secret');
      expect(component.renders[from]).toMatchObject({ status: 'pending', data: undefined });
    });

    test('equal queries share one, which ends with its last reader', async () => {
      const counts = watchReaders(orders);
      const reordered: Use = ({ useLiveQuery }, of) =>
        useLiveQuery(
          of(() => orders),
          of(() => ({ price: { $lt: 99, $gt: 1 }, done: { $ne: true } })),
        );
      const query: Use = ({ useLiveQuery }, of) =>
        useLiveQuery(
          of(() => orders),
          of(() => ({ done: { $ne: true }, price: { $gt: 1, $lt: 99 } })),
        );
      const two = [render(query), render(reordered)];
      for (const each of two) await until(each, isReady);
      expect(counts).toEqual({ queries: 1, readers: 1 });
      expect(last(two[0]!).data).toBe(last(two[1]!).data);
      two[0]!.unmount();
      await orders.insert({ item: 'mat', price: 50 });
      await until(two[1]!, ({ data }) => data.length === 2);
      expect(counts.readers).toBe(1);
      two[1]!.unmount();
      await expect.poll(() => counts.readers).toBe(0);
      // A new component makes a new query: the old one is not kept.
      const renderAgain = async () => {
        const again = render(query);
        await until(again, isReady);
        again.unmount();
        return counts.queries;
      };
      await expect.poll(renderAgain).toBeGreaterThan(1);
      await orders.deleteMany({ item: 'mat' });
    });

    test('a query that fails shows its error', async () => {
      const component = render(({ useLiveQuery }, of) =>
        useLiveQuery(
          of(() => orders),
          { price: { $near: 1 } },
        ),
      );
      await until(component, ({ status }) => status === 'error');
      expect(last(component)).toMatchObject({
        data: undefined,
        error: { code: 'operator_unknown' },
        is_stale: false,
      });
    });

    test('without a collection a query is off', async () => {
      const component = render(
        ({ useLiveQuery }, of, props) =>
          useLiveQuery(
            of(() => props().from),
            {},
          ),
        {
          from: undefined,
        },
      );
      expect(last(component)).toMatchObject({ status: 'off', data: undefined, is_stale: false });
      component.set({ from: orders });
      await until(component, isReady);
      component.set({ from: null });
      await until(component, ({ status }) => status === 'off');
      expect(last(component).data).toBe(undefined);
    });

    test('initial data shows until the first result', async () => {
      const initial = [{ _id: 'x', item: 'from a loader', price: 1 }];
      const component = render(({ useLiveQuery }, of) =>
        useLiveQuery(
          of(() => orders),
          { price: { $gt: 0 } },
          { initial },
        ),
      );
      expect(component.renders[0]).toEqual({
        status: 'ready',
        data: initial,
        error: undefined,
        is_stale: false,
      });
      await until(component, ({ data }) => data.length > 1);
    });

    test('functions count by their text and `key`', async () => {
      const counts = watchReaders(orders);
      const component = render(
        ({ useLiveQuery }, of, props) =>
          useLiveQuery(
            of(() => orders),
            {},
            of(() => {
              const { least } = props();
              return { where: ({ price }: Order) => price >= least, key: least };
            }),
          ),
        { least: 40 },
      );
      await until(component, isReady);
      component.set({ least: 100 });
      await until(component, (state) => isReady(state) && state.data.length === 1);
      expect(counts.queries).toBe(2);
    });

    test('a document is never that of another id', async () => {
      const [lamp, desk] = await orders.filter({}, { limit: 2 });
      const component = render(
        ({ useLiveDocument }, of, props) =>
          useLiveDocument(
            of(() => orders),
            of(() => props().id),
          ),
        { id: lamp!._id },
      );
      await until(component, ({ data }) => data?.item === 'lamp');
      const from = component.renders.length;
      component.set({ id: desk!._id });
      await until(component, ({ data }) => data?.item === 'desk');
      expect(component.renders.slice(from).some(({ data }) => data?.item === 'lamp')).toBe(false);
      component.set({ id: undefined });
      await until(component, ({ status }) => status === 'off');
    });

    test('a count and a value follow changes', async () => {
      const settings = new db.Collection({
        name: `settings ${Math.random()}`,
        type: 'KEY_VALUE_BASED',
      });
      await settings.set('theme.dark', false);
      const count = render(({ useLiveCount }, of) =>
        useLiveCount(
          of(() => orders),
          { done: true },
        ),
      );
      const value = render(({ useLiveValue }, of) =>
        useLiveValue(
          of(() => settings),
          'theme.dark',
        ),
      );
      await until(count, ({ data }) => data === 2);
      await until(value, ({ data }) => data === false);
      await settings.set('theme.dark', true);
      await until(value, ({ data }) => data === true);
    });

    test('totals follow changes, and another pipeline replaces them', async () => {
      const sales = await collection('sales', [
        { item: 'lamp', price: 5 },
        { item: 'lamp', price: 7 },
        { item: 'vase', price: 2 },
      ]);
      const component = render(
        ({ useLiveAggregate }, of, props) =>
          useLiveAggregate(
            of(() => sales),
            of(() => [
              { $group: { _id: '$item', total: { $sum: '$price' } } },
              { $match: { total: { $gt: props().above } } },
            ]),
          ),
        { above: 3 },
      );
      await until(component, ({ data }) => data?.[0]?.total === 12 && data.length === 1);
      await sales.insert({ item: 'vase', price: 2 });
      await until(component, ({ data }) => data?.[1]?.total === 4);
      component.set({ above: 5 });
      await until(component, ({ data, is_stale }) => !is_stale && data?.length === 1);
    });

    test('hits follow what is typed, and changes; the hits before stay meanwhile', async () => {
      const name = 'articles';
      const made = new db.Collection<Order>({
        ...{ name, type: 'DOCUMENT_BASED' },
        indexes: [{ text: 'item' }],
      });
      await made.insertMany([
        { item: 'heavy water', price: 1 },
        { item: 'heavy metal', price: 2 },
      ]);
      const component = render(
        ({ useLiveSearch }, of, props) =>
          useLiveSearch(
            of(() => made),
            of(() => props().typed),
            of(() => ({ highlight: true })),
          ),
        { typed: undefined },
      );
      expect(last(component).status).toBe('off');
      component.set({ typed: 'heavy' });
      await until(component, ({ data }) => data?.length === 2);
      component.set({ typed: 'heavy wat' });
      expect(last(component).data).toHaveLength(2);
      await until(component, ({ data, is_stale }) => !is_stale && data?.length === 1);
      expect(last(component).data[0].matches).toEqual({
        item: [
          [0, 5],
          [6, 11],
        ],
      });
      await made.insert({ item: 'water, not heavy', price: 3 });
      await until(component, ({ data }) => data?.length === 2);
    });

    test('a list grows by pages without flicker', async () => {
      const many = await collection(
        'many',
        Array.from({ length: 5 }, (_, price) => ({ item: `item ${price}`, price })),
      );
      const component = render(({ useLivePages }, of) =>
        useLivePages(
          of(() => many),
          of(() => ({})),
          of(() => ({ sort: { price: 1 }, page_size: 2 })),
        ),
      );
      expect(last(component)).toMatchObject({ status: 'pending', has_more: false });
      await until(component, isReady);
      const first = last(component).data;
      expect(first).toHaveLength(2);
      expect(last(component).has_more).toBe(true);
      last(component).loadMore();
      last(component).loadMore();
      await until(component, (state) => isReady(state) && state.data.length === 4);
      expect(last(component).data[0]).toBe(first[0]);
      last(component).loadMore();
      await until(component, (state) => isReady(state) && state.data.length === 5);
      expect(last(component).has_more).toBe(false);
      const ready = component.renders.findIndex(isReady);
      expect(component.renders.slice(ready).every(({ data }) => data.length >= 2)).toBe(true);
      await many.patch(first[1]._id, { item: 'changed' });
      await until(component, ({ data }) => data[1].item === 'changed');
      expect(last(component).data[0]).toBe(first[0]);
      await many.insert({ item: 'new', price: -1 });
      await until(component, ({ data }) => data[0].item === 'new');
    });

    test('a draft keeps what was typed, and follows in all other fields', async () => {
      const { _id } = await orders.insert({ item: 'rug', price: 70 });
      const component = render(({ useDraft }, of) =>
        useDraft(
          of(() => orders),
          of(() => _id),
        ),
      );
      await until(component, ({ draft }) => draft?.item === 'rug');
      for (const item of ['r', 're', 'red rug']) last(component).set({ item });
      await until(component, ({ draft }) => draft.item === 'red rug');
      expect(last(component)).toMatchObject({ is_dirty: true, is_saving: false });
      await orders.patch(_id, { price: 75, item: 'blue rug' });
      await until(component, ({ draft }) => draft.price === 75);
      expect(last(component).draft.item).toBe('red rug');
      const patch = vi.spyOn(orders, 'patch');
      const saved = last(component).save();
      last(component).set({ done: false });
      expect(await saved).toMatchObject({ item: 'red rug', price: 75 });
      expect(patch.mock.calls).toEqual([[_id, { item: 'red rug' }]]);
      await until(component, ({ is_saving, draft }) => !is_saving && draft.done === false);
      expect(last(component)).toMatchObject({ is_dirty: true, draft: { item: 'red rug' } });
      last(component).reset();
      await until(component, ({ is_dirty }) => !is_dirty);
      expect(last(component).draft).toMatchObject({ item: 'red rug', price: 75 });
      expect(() => {
        last(component).draft.item = 'changed in place';
      }).toThrow(TypeError);
      last(component).set({ item: () => 'a function' });
      await expect(last(component).save()).rejects.toMatchObject({ code: 'value_unsupported' });
      await until(component, ({ error }) => error?.code === 'value_unsupported');
      expect(last(component).is_dirty).toBe(true);
      await orders.delete(_id);
    });

    test('a draft of another document begins empty', async () => {
      const [lamp, desk] = await orders.filter({}, { limit: 2 });
      const component = render(
        ({ useDraft }, of, props) =>
          useDraft(
            of(() => orders),
            of(() => props().id),
          ),
        { id: lamp!._id },
      );
      await until(component, ({ draft }) => draft?.item === 'lamp');
      last(component).set({ item: 'typed' });
      await until(component, ({ is_dirty }) => is_dirty);
      component.set({ id: desk!._id });
      await until(component, ({ draft, is_dirty }) => draft?.item === 'desk' && !is_dirty);
      expect(await last(component).save()).toMatchObject({ item: 'desk' });
      expect(await orders.get(lamp!._id)).toMatchObject({ item: 'lamp', _updated: false });
    });

    test('a spread of the draft undoes nothing, and a conflict is shown', async () => {
      const { _id } = await orders.insert({ item: 'vase', price: 10 });
      const component = render(({ useDraft }, of) =>
        useDraft(
          of(() => orders),
          of(() => _id),
        ),
      );
      await until(component, ({ draft }) => draft?.item === 'vase');
      const { draft: read } = last(component);
      await orders.patch(_id, { price: 20 });
      await until(component, ({ draft }) => draft.price === 20);
      last(component).set({ ...read, item: 'big vase' });
      await until(component, ({ draft }) => draft.item === 'big vase');
      expect(last(component).draft.price).toBe(20);
      expect(last(component).conflicts).toEqual([]);
      const patch = vi.spyOn(orders, 'patch');
      await last(component).save();
      expect(patch.mock.calls).toEqual([[_id, { item: 'big vase' }]]);
      await until(component, ({ is_dirty }) => !is_dirty);
      const tags = ['a'];
      last(component).set({ price: 30, tags });
      tags.push('b');
      await orders.patch(_id, { price: 25 });
      await until(component, ({ conflicts }) => conflicts.includes('price'));
      expect(last(component)).toMatchObject({
        conflicts: ['price'],
        draft: { price: 30, tags: ['a'] },
      });
      await last(component).save();
      await until(component, ({ conflicts, is_saving }) => !is_saving && conflicts.length === 0);
      expect(await orders.get(_id)).toMatchObject({ item: 'big vase', price: 30, tags: ['a'] });
      await orders.delete(_id);
    });

    test('a copy of a draft in the state of the framework undoes nothing either', async () => {
      const { _id } = await orders.insert({ item: 'jug', price: 10 });
      const component = render(({ useDraft }, of) =>
        useDraft(
          of(() => orders),
          of(() => _id),
        ),
      );
      await until(component, ({ draft }) => draft?.item === 'jug');
      const local = track({ ...last(component).draft }) as Order;
      await orders.patch(_id, { price: 20 });
      await until(component, ({ draft }) => draft.price === 20);
      local.item = 'big jug';
      last(component).set(local);
      await until(component, ({ draft }) => draft.item === 'big jug');
      expect(last(component)).toMatchObject({ draft: { price: 20 }, conflicts: [] });
      await orders.delete(_id);
    });

    test('what is set in the tick of another id belongs to that document', async () => {
      const [one, copy] = await orders.insertMany([
        { item: 'cup', price: 1 },
        { item: 'cup', price: 1 },
      ]);
      const component = render(
        ({ useDraft }, of, props) =>
          useDraft(
            of(() => orders),
            of(() => props().id),
          ),
        { id: one!._id },
      );
      await until(component, ({ draft }) => draft?._id === one!._id);
      component.set({ id: copy!._id });
      component.read().set({ item: 'copy' });
      await until(component, ({ draft }) => draft?._id === copy!._id && draft.item === 'copy');
      await last(component).save();
      expect(await orders.get(copy!._id)).toMatchObject({ item: 'copy' });
      expect(await orders.get(one!._id)).toMatchObject({ item: 'cup' });
      await orders.deleteMany({ item: { $in: ['cup', 'copy'] } });
    });

    test('what is read in the tick of other arguments belongs to them', async () => {
      const [lamp] = await orders.filter({ item: 'lamp' });
      const [desk] = await orders.filter({ item: 'desk' });
      const list = render(
        ({ useLiveQuery }, of, props) =>
          useLiveQuery(
            of(() => orders),
            of(() => ({ item: props().item })),
          ),
        { item: 'lamp' },
      );
      const document = render(
        ({ useLiveDocument }, of, props) =>
          useLiveDocument(
            of(() => orders),
            of(() => props().id),
          ),
        { id: lamp!._id },
      );
      await until(list, isReady);
      await until(document, isReady);
      list.set({ item: 'desk' });
      expect(list.read()).toMatchObject({ status: 'pending', is_stale: true, data: [lamp] });
      document.set({ id: desk!._id });
      expect(document.read()).toMatchObject({ status: 'pending', is_stale: false });
      expect(document.read().data).toBeUndefined();
      document.set({ id: undefined });
      expect(document.read()).toMatchObject({ status: 'off' });
      await until(list, isReady);
      expect(list.read()).toMatchObject({ status: 'ready', is_stale: false, data: [desk] });
    });

    test('a component that is replaced goes on with the query', async () => {
      const counts = watchReaders(orders);
      const first = render(openOrders);
      await until(first, isReady);
      first.unmount();
      const second = render(openOrders);
      await until(second, isReady);
      expect(counts).toEqual({ queries: 1, readers: 1 });
      second.unmount();
      // Before its first result.
      const third = render(({ useLiveQuery }) => useLiveQuery(orders, { item: 'lamp' }));
      third.unmount();
      await expect.poll(() => counts.readers).toBe(0);
    });

    test('a scope is here while components show it', async () => {
      const store = memory();
      const documents = ['a', 'b'].map((project) => ({ _id: project, project, item: project }));
      await store.push(
        'jobs',
        documents.map((document) => ({ id: document._id, key: `k.${document._id}`, document })),
      );
      const handler = createHandler({
        ...{ store, authorize: () => true },
        scopes: { project: (project) => ({ project }) },
      });
      const remote = http({
        url: 'https://example.com/jobs',
        fetch: ((url: string, init: RequestInit) => handler(new Request(url, init))) as never,
      });
      const jobs = await collection('jobs', []);
      const shown: Use = ({ useLiveQuery }, of, props) =>
        useLiveQuery(
          of(() => jobs),
          {},
          of(() => ({ sync: { project: props().project } })),
        );
      const one = render(shown, { project: 'a' });
      await until(one, isReady);
      // It may begin later.
      const sync = replicate(jobs, { remote, scopes: [] });
      const two = render(shown, { project: 'a' });
      for (const each of [one, two]) await until(each, (state) => items(state) === 'a');
      one.unmount();
      two.set({ project: 'b' });
      await until(two, (state) => isReady(state) && items(state) === 'b');
      expect(await sync.scopes.list()).toEqual([{ project: 'b' }]);
      two.set({ project: {} });
      await until(two, ({ status }) => status === 'error');
      expect(last(two)).toMatchObject({ error: { code: 'option_invalid' } });
      two.unmount();
      await expect.poll(() => jobs.count({})).toBe(0);
      expect(await sync.scopes.list()).toEqual([]);
      await sync.stop();
    });

    test('a closed database shows an error', async () => {
      const closing = new Database({ name: `closing ${Math.random()}`, storage: 'memory' });
      const gone = new closing.Collection<Order>({ name: 'gone', type: 'DOCUMENT_BASED' });
      await gone.insert({ item: 'lamp', price: 1 });
      const component = render(({ useLiveQuery }) => useLiveQuery(gone, {}));
      await until(component, isReady);
      await closing.close();
      await until(component, ({ status }) => status === 'error');
      expect(last(component)).toMatchObject({ error: { code: 'closed' }, is_stale: true });
      expect(items(last(component))).toBe('lamp');
    });

    test('the status of the database follows', async () => {
      const component = render(({ useDatabaseStatus }) => ({ value: useDatabaseStatus(db) }));
      await until(component, ({ value }) => value.state === 'open');
      expect(last(component).value.storage).toBe('memory');
    });
  });
}
