/** One end of a channel of messages. */
export interface Endpoint {
  readonly postMessage: MessagePort['postMessage'];
  addEventListener(type: string, listener: EventListenerOrEventListenerObject): void;
  removeEventListener(type: string, listener: EventListenerOrEventListenerObject): void;
  /** Of a port. */
  start?(): void;
}

/** A value in a message. The form is comlink's, which earlier versions in other tabs speak. */
interface WireValue {
  readonly type: 'RAW';
  readonly value: unknown;
}

interface Call {
  readonly id: string;
  readonly type: 'APPLY';
  readonly path: readonly [name: string];
  readonly argumentList: readonly WireValue[];
}

interface Thrown {
  readonly type: 'HANDLER';
  readonly name: 'throw';
  readonly value: { readonly isError: true; readonly value: ErrorFields };
}

type ErrorFields = Record<'name' | 'message' | 'stack', string | undefined>;

type Reply = (WireValue | Thrown) & Pick<Call, 'id'>;

/** The methods of a remote, and what ends their use. */
export type RemoteMethods<Api, Name extends keyof Api> = {
  [Method in Name]: Api[Method] extends (...given: infer Given) => infer Value
    ? (...given: Given) => Promise<Awaited<Value>>
    : never;
} & {
  /** Must be called when no method is called any more: those that wait never settle. */
  release(): void;
};

/** Answers the calls that come to an endpoint. */
export function answerCalls(api: object, endpoint: Endpoint): void {
  const listener = async (event: Event): Promise<void> => {
    const { id, type, path, argumentList } = ((event as MessageEvent).data ?? {}) as Partial<Call>;
    if (type !== 'APPLY' || !path || !argumentList) return;
    const reply = (message: WireValue | Thrown) => endpoint.postMessage({ ...message, id });
    try {
      const method = Reflect.get(api, path[0]) as (...given: unknown[]) => unknown;
      reply({ type: 'RAW', value: await method(...argumentList.map(({ value }) => value)) });
    } catch (error) {
      // Also of a value that cannot be cloned.
      const { name, message, stack } = error as Error;
      reply({
        ...{ type: 'HANDLER', name: 'throw' },
        value: { isError: true, value: { name, message, stack } },
      });
    }
  };
  endpoint.addEventListener('message', listener as (event: Event) => void);
  endpoint.start?.();
}

/** The methods that the other end answers. Ports among the arguments of a call are transferred. */
export function remoteMethods<Api, Name extends keyof Api & string>(
  endpoint: Endpoint,
  names: readonly Name[],
): RemoteMethods<Api, Name> {
  const waiting = new Map<string, (reply: Reply) => void>();
  // An endpoint may have several users.
  const user = Math.random();
  let calls = 0;
  let isReleased = false;
  const listener = (event: Event) => {
    const reply = ((event as MessageEvent).data ?? {}) as Reply;
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  };
  const call = (name: string, given: readonly unknown[]) =>
    new Promise<unknown>((resolve, reject) => {
      if (isReleased) return;
      const id = `${user} ${++calls}`;
      waiting.set(id, ({ type, value }) =>
        type === 'RAW' ? resolve(value) : reject(Object.assign(new Error(), value.value)),
      );
      const argumentList = given.map((value): WireValue => ({ type: 'RAW', value }));
      endpoint.postMessage(
        { id, type: 'APPLY', path: [name], argumentList } satisfies Call,
        given.filter((one) => one instanceof MessagePort),
      );
    });
  endpoint.addEventListener('message', listener);
  endpoint.start?.();
  const release = () => {
    isReleased = true;
    endpoint.removeEventListener('message', listener);
    waiting.clear();
  };
  const methods = names.map((name) => [name, (...given: unknown[]) => call(name, given)]);
  return { ...Object.fromEntries(methods), release };
}
