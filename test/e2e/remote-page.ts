import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Connect } from 'vite';

/** A loop: gets a task of the test, runs it, answers. */
const SCRIPT = `
  const post = (path, body) => fetch(new URL(path, import.meta.url), { method: 'POST', body });
  for (;;) {
    const task = await (await post('next')).json();
    const answer = { id: task.id };
    try {
      answer.value = await (0, eval)(task.expression);
    } catch (error) {
      answer.error = String(error);
    }
    await post('answer', JSON.stringify(answer));
  }
`;

interface Task {
  readonly expression: string;
  readonly settle: (answer: { value?: unknown; error?: string }) => void;
}

/**
 * A page that the test drives through the server. WebKit runs without automation (see
 * tools/browsers/webkit.mjs), so the page has to poll for tasks.
 */
export class RemotePage {
  readonly #tasks = new Map<number, Task>();
  #lastId = 0;
  /** Pending tasks. */
  #queue: number[] = [];
  /** The page that waits for a task. */
  #waiting: ServerResponse | undefined;

  /** Serves the script and its requests, at any path. */
  readonly middleware: Connect.NextHandleFunction = (request, response, next) => {
    switch (request.url) {
      case '/script.js':
        response.setHeader('Content-Type', 'text/javascript');
        response.end(SCRIPT);
        break;
      case '/next':
        this.#wait(response);
        break;
      case '/answer':
        this.#take(request).then(() => response.end(), next);
        break;
      default:
        next();
    }
  };

  /** Calls a function in the page, with arguments and a result that JSON can represent. */
  evaluate<T, A extends unknown[]>(run: (...args: A) => T, ...args: A): Promise<Awaited<T>> {
    return new Promise((resolve, reject) => {
      this.#add(`(${run})(...${JSON.stringify(args)})`, ({ value, error }) => {
        if (error === undefined) resolve(value as Awaited<T>);
        else reject(new Error(`In the page: ${error}`));
      });
    });
  }

  /** Reloads the page; the next task goes to the new page. */
  reload(): void {
    this.#add('location.reload(), new Promise(() => {})', () => {});
  }

  /** Ends the page, as a navigation does. */
  leave(): void {
    this.#add("location.replace('about:blank'), new Promise(() => {})", () => {});
  }

  /** Makes the page close itself: allowed only if another page opened it. */
  close(): void {
    this.#add('window.close(), new Promise(() => {})', () => {});
  }

  #add(expression: string, settle: Task['settle']): void {
    const id = ++this.#lastId;
    this.#tasks.set(id, { expression, settle });
    this.#queue.push(id);
    this.#send();
  }

  #wait(response: ServerResponse): void {
    this.#waiting = response;
    response.once('close', () => {
      if (this.#waiting === response) this.#waiting = undefined;
    });
    this.#send();
  }

  #send(): void {
    const id = this.#waiting && this.#queue.shift();
    if (id === undefined) return;
    this.#waiting?.end(JSON.stringify({ id, expression: this.#tasks.get(id)?.expression }));
    this.#waiting = undefined;
  }

  async #take(request: IncomingMessage): Promise<void> {
    const { id, ...answer } = JSON.parse(await text(request));
    this.#tasks.get(id)?.settle(answer);
    this.#tasks.delete(id);
  }
}
