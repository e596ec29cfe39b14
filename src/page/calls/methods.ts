import type { Result } from '../../async/coroutine.ts';
import type { Sender } from '../sending/sender.ts';

/** How a façade answers: by a promise, or at once. */
export type Way = 'async' | 'sync';

/** What a method returns. */
export type Returns<W extends Way, T> = W extends 'sync' ? T : Promise<T>;

/** Finds the coroutine of a call. */
export type Start<Calls, Args extends readonly unknown[] = readonly never[], T = unknown> = (
  calls: Calls,
) => (sender: Sender, ...args: Args) => Result<T>;

/** How a call runs. */
export interface CallRules<Args extends readonly unknown[] = readonly never[]> {
  /** Position of the caller's options, which may hold an AbortSignal, among the arguments. */
  readonly options?: number;
  /** Whether other calls of the collection wait until this one has ended. */
  readonly exclusive?: boolean | ((...args: Args) => boolean);
  /** Copies an argument where the call waits for the runtime to load. */
  readonly copy?: (argument: unknown) => unknown;
}

export interface Method<Calls, Args extends readonly unknown[] = readonly never[], T = unknown>
  extends CallRules<Args> {
  readonly start: Start<Calls, Args, T>;
}

/** A row for each method of an interface, whose coroutine returns what the interface says. */
export type Methods<Calls, Interface> = {
  readonly [Name in keyof Interface]: Interface[Name] extends (...args: infer Args) => infer T
    ? Method<Calls, Args, T>
    : never;
};

/** Begins a call. A list of any length would cost a tenth of a `get`. */
export function begin<Calls, Args extends readonly unknown[], T>(
  start: Start<Calls, Args, T>,
  calls: Calls,
  sender: Sender,
  args: Args,
): Result<T> {
  const call = start(calls) as never as (sender: Sender, ...args: unknown[]) => Result<T>;
  return call.call(calls, sender, args[0], args[1], args[2]);
}

/** Runs the calls of its methods, in its own way. */
interface Facade {
  call(start: Start<never>, args: readonly unknown[], rules: CallRules, name: string): unknown;
}

/** Gives a class of façades the methods of a table. */
export function addMethods({ prototype }: { readonly prototype: object }, methods: object): void {
  for (const [name, method] of Object.entries<Method<never>>(methods as never)) {
    const { [name]: value } = {
      [name](this: Facade, ...args: unknown[]) {
        return this.call(method.start, args, method, name);
      },
    };
    Object.defineProperty(prototype, name, { value, configurable: true, writable: true });
  }
}
