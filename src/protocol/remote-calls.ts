type Listener = EventListenerOrEventListenerObject;

/** A worker, a port, a channel to another tab, or the scope of a worker. */
export interface Endpoint {
  postMessage(message: unknown, transfer?: Transferable[]): void;
  addEventListener(type: string, listener: Listener, options?: object): void;
  removeEventListener(type: string, listener: Listener, options?: object): void;
  start?: () => void;
}

/** Messages as comlink has them, which other versions in other tabs speak. */
interface CallMessage {
  readonly id: number | string;
  readonly type: 'APPLY';
  readonly path: readonly [method: string];
  readonly argumentList: readonly { readonly value: unknown }[];
}

type Answer =
  | { readonly type: 'RAW'; readonly value: unknown }
  | {
      readonly type: 'HANDLER';
      readonly name: 'throw';
      readonly value: { readonly isError: boolean; readonly value: unknown };
    };

/** Answers the calls that come from the other end. */
export function expose(api: object, endpoint: Endpoint): void {
  const methods = api as Record<string, (...args: unknown[]) => unknown>;
  endpoint.addEventListener('message', async (event) => {
    const { data } = event as MessageEvent<CallMessage | null>;
    if (data?.type !== 'APPLY') return;
    const { id, path, argumentList } = data;
    const answer = (said: Answer) => endpoint.postMessage({ ...said, id });
    try {
      const method = methods[path[0]] as (...args: unknown[]) => unknown;
      const value = await method(...argumentList.map((given) => given.value));
      answer({ type: 'RAW', value });
    } catch (error) {
      // Also where the value cannot be cloned.
      answer(thrown(error));
    }
  });
  endpoint.start?.();
}

function thrown(error: unknown): Answer {
  const isError = error instanceof Error;
  const { message, name, stack } = error as Error;
  const value = isError ? { message, name, stack } : String(error);
  return { type: 'HANDLER', name: 'throw', value: { isError, value } };
}

/** The methods of a remote, and what ends their use. */
export type RemoteMethods<Api> = {
  readonly [Name in keyof Api]: Api[Name] extends (...args: infer Args) => infer Value
    ? (...args: Args) => Promise<Awaited<Value>>
    : never;
} & {
  /** Must be called when no method is called any more: calls then never settle. */
  release(): void;
};

/** The methods that the other end exposes. */
export function remoteMethods<Api>(
  endpoint: Endpoint,
  names: readonly (keyof Api & string)[],
): RemoteMethods<Api> {
  const waiting = new Map<unknown, (answer: Answer) => void>();
  let last = 0;
  let isReleased = false;
  const take = (event: Event): void => {
    const { data } = event as MessageEvent<(Answer & { readonly id: number }) | null>;
    waiting.get(data?.id)?.(data as Answer);
    waiting.delete(data?.id);
  };
  endpoint.addEventListener('message', take);
  endpoint.start?.();
  const call = (name: string, args: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      // As of an ended worker: callers have stopped to wait, or race with its end.
      if (isReleased) return;
      const id = ++last;
      const argumentList = args.map((value) => ({ type: 'RAW', value }));
      endpoint.postMessage({ id, type: 'APPLY', path: [name], argumentList }, args.filter(isPort));
      waiting.set(id, (answer) => {
        if (answer.type === 'RAW') return resolve(answer.value);
        const { isError, value } = answer.value;
        reject(isError ? Object.assign(new Error(), value) : value);
      });
    });
  const methods = names.map((name) => [name, (...args: unknown[]) => call(name, args)]);
  const release = () => {
    isReleased = true;
    waiting.clear();
    endpoint.removeEventListener('message', take);
  };
  return { ...Object.fromEntries(methods), release };
}

function isPort(value: unknown): value is MessagePort {
  return 'MessagePort' in globalThis && value instanceof MessagePort;
}
