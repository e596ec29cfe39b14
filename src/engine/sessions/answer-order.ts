import type { Executor } from '../executor.ts';

/**
 * Keeps the answers to changes of a collection in the order of the changes. When an engine is lost, its client replays
 * the acknowledged changes and then retries the others: that is the original order only if no later change was
 * acknowledged before an earlier one.
 */
export class AnswerOrder {
  /** The last answer that is due, by collection. */
  readonly #due = new Map<Executor, Promise<unknown>>();

  /** Whether no answer is due, so that the next need not wait. */
  get isIdle(): boolean {
    return this.#due.size === 0;
  }

  /**
   * Answers once a batch is executed and the earlier answers of the collections it changes are given.
   *
   * @param executing The requests of the batch that are still being executed.
   */
  answer<T>(
    changed: ReadonlySet<Executor>,
    executing: readonly Promise<void>[],
    reply: () => T | Promise<T>,
  ): T | Promise<T> {
    const before = [...changed].flatMap((collection) => this.#due.get(collection) ?? []);
    if (executing.length === 0 && before.length === 0) return reply();
    const answered = Promise.all([...executing, ...before]).then(reply);
    for (const collection of changed) {
      this.#due.set(collection, answered);
      const settled = () => {
        if (this.#due.get(collection) === answered) this.#due.delete(collection);
      };
      answered.then(settled, settled);
    }
    return answered;
  }
}
