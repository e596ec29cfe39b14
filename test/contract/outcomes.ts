import { onTestFinished } from 'vitest';
import type { CairnError, DatabaseClient, EventMap, EventName } from '../../src/index.ts';

/** The error of a rejected promise. Fails if it resolves. */
export async function rejection(promise: Promise<unknown>): Promise<CairnError> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error as CairnError;
  }
  throw new Error(`It did not reject; it resolved with ${String(value)}.`);
}

/** The error that a call throws. Fails if it throws none. */
export function thrown(call: () => unknown): CairnError {
  let value: unknown;
  try {
    value = call();
  } catch (error) {
    return error as CairnError;
  }
  throw new Error(`It did not throw; it returned ${String(value)}.`);
}

/** The events of one name, and a way to wait for more. */
export class EventLog<Name extends EventName> {
  readonly events: EventMap[Name][] = [];
  readonly stop: () => void;
  #arrived: () => void = () => undefined;

  constructor(source: Pick<DatabaseClient, 'on'>, name: Name) {
    this.stop = source.on(name, (event) => {
      this.events.push(event);
      this.#arrived();
    });
    onTestFinished(this.stop);
  }

  /** Waits until the logged events pass the test. */
  async until(test: (events: readonly EventMap[Name][]) => boolean): Promise<void> {
    while (!test(this.events)) {
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
  }
}

/** Documents without managed fields. */
export function own(documents: readonly object[]): object[] {
  return documents.map((document) =>
    Object.fromEntries(
      Object.entries(document).filter(([field]) => !MANAGED_FIELDS.includes(field)),
    ),
  );
}

/** In the order of documents. */
export const MANAGED_FIELDS: readonly string[] = [
  '_id',
  '_updated',
  '_archived',
  '_created_at',
  '_created_timestamp',
  '_updated_at',
  '_updated_timestamp',
  '_archived_at',
  '_archived_timestamp',
  '_unarchived_at',
  '_unarchived_timestamp',
];

export function idsOf(documents: readonly { readonly _id: string }[]): string[] {
  return documents.map(({ _id }) => _id);
}

/** All items of an iterable. */
export async function allOf<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of source) all.push(item);
  return all;
}
