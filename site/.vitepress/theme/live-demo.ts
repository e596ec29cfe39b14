import {
  type Component,
  computed,
  defineComponent,
  h,
  onBeforeUnmount,
  ref,
  shallowRef,
} from 'vue';
import { SAMPLES, type Sample, shopOf, someOrder } from './samples.ts';
import './live-demo.css';

type Shop = Awaited<ReturnType<typeof shopOf>>;

/** What code may give that stays up to date. */
interface Live {
  subscribe(
    listener: (snapshot: { readonly data: unknown; readonly error?: Error }) => void,
  ): () => void;
}

interface Shown {
  readonly result?: unknown;
  readonly error?: Error;
}

/**
 * `<LiveDemo />`: code that a visitor edits and runs on a database in the memory of the page. The
 * engine loads with the first run.
 */
export const LiveDemo: Component = defineComponent(() => {
  const sample = shallowRef<Sample>(SAMPLES[0]);
  const code = ref(sample.value.code);
  const shown = shallowRef<Shown>({});
  const isBusy = ref(false);
  const rows = computed(() => rowsOf(shown.value.result));
  let opened: Promise<Shop> | undefined;
  let stop: (() => void) | undefined;

  const open = () => {
    opened ??= import('virtual:engine-in-page').then(shopOf);
    return opened;
  };
  const attempt = async (act: (shop: Shop) => Promise<void>) => {
    isBusy.value = true;
    try {
      await act(await open());
    } catch (error) {
      shown.value = { error: error as Error };
    }
    isBusy.value = false;
  };
  const run = () =>
    attempt(async (shop) => {
      stop?.();
      stop = undefined;
      const made: unknown = await evaluate(code.value, shop);
      if (isLive(made))
        stop = made.subscribe(({ data, error }) => {
          if (error) shown.value = { error };
          else if (data !== undefined) shown.value = { result: data };
        });
      else shown.value = { result: made };
    });
  const add = () => attempt(async ({ orders }) => void (await orders.insert(someOrder())));
  const choose = (chosen: Sample) => {
    sample.value = chosen;
    code.value = chosen.code;
    void run();
  };
  onBeforeUnmount(() => stop?.());

  return () =>
    h('section', { class: 'live-demo', 'aria-label': 'Try it here' }, [
      h(
        'div',
        { class: 'choices' },
        SAMPLES.map((one) =>
          h(
            'button',
            { 'aria-pressed': one === sample.value, onClick: () => choose(one) },
            one.title,
          ),
        ),
      ),
      h('textarea', {
        'aria-label': 'Code',
        spellcheck: false,
        rows: 9,
        value: code.value,
        onInput: (event: InputEvent) => {
          code.value = (event.target as HTMLTextAreaElement).value;
        },
        onKeydown: (event: KeyboardEvent) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void run();
        },
      }),
      h('div', { class: 'actions' }, [
        h('button', { class: 'run', disabled: isBusy.value, onClick: run }, 'Run'),
        h('button', { disabled: isBusy.value, onClick: add }, 'Insert an order'),
      ]),
      h('div', { class: 'result', role: 'status', tabindex: 0, 'aria-label': 'Result' }, [
        shown.value.error
          ? h('p', { class: 'problem' }, `${shown.value.error.name}: ${shown.value.error.message}`)
          : rows.value
            ? table(rows.value)
            : h('pre', 'result' in shown.value ? textOf(shown.value.result) : 'Run it to see.'),
      ]),
    ]);
});

const AsyncFunction = (async () => undefined).constructor as new (
  ...given: string[]
) => (...given: unknown[]) => Promise<unknown>;

/** An expression gives its value, statements what they return. */
function evaluate(code: string, { db, orders }: Shop): Promise<unknown> {
  const of = (body: string) => new AsyncFunction('db', 'orders', body);
  let call: ReturnType<typeof of>;
  try {
    call = of(`return (${code.trim().replace(/;$/, '')}\n);`);
  } catch {
    call = of(code);
  }
  return call(db, orders);
}

function isLive(made: unknown): made is Live {
  return typeof made === 'object' && made !== null && 'subscribe' in made;
}

type Row = Readonly<Record<string, unknown>>;

/** Documents, and of hits theirs. */
function rowsOf(result: unknown): readonly Row[] | undefined {
  const list = Array.isArray(result) ? result : [];
  const rows = list.map((one) => one?.document ?? one);
  const areRows = rows.length > 0 && rows.every((one) => typeof one === 'object' && one !== null);
  return areRows ? rows : undefined;
}

function table(rows: readonly Row[]) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const isShown = (name: string) => !name.startsWith('_') || rows.every(({ _id }) => isShort(_id));
  const shown = names.filter((name) => isShown(name) && !MANAGED.includes(name));
  return h('table', [
    h(
      'thead',
      h(
        'tr',
        shown.map((name) => h('th', { scope: 'col' }, name)),
      ),
    ),
    h(
      'tbody',
      rows.map((row) =>
        h(
          'tr',
          shown.map((name) => h('td', textOf(row[name]))),
        ),
      ),
    ),
  ]);
}

/** What this page does not use. */
const MANAGED = ['_archived', '_updated'];

/** Ids that were made say nothing to a reader. */
const isShort = (id: unknown) => textOf(id).length < 16;

function textOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 1) ?? String(value));
}
