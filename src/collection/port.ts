import { nextTurn } from '../engine/next-turn.ts';
import type { Request } from '../engine/protocol.ts';
import type { CollectionSettings } from '../engine/settings.ts';
import type { Started } from '../transport/channel.ts';
import type { Link, LiveSignal } from '../transport/link.ts';
import type { Ask, Exchange, Step, Ticket } from './exchange.ts';
import { isAbortSignal } from './option-checks.ts';
import type { Turns } from './turns.ts';

/** What a port tells its door. */
export interface PortEvents {
  readonly opened: () => void;
  /** The collection is being dropped; its name is free. */
  readonly dropped: () => void;
  /** Why no call may begin any more. */
  readonly refusal: () => Error | undefined;
}

type Send = (request: Ask) => Promise<unknown>;

/** One handle's end of the link: adds its number, keeps its calls in order, runs exchanges. */
export class Port {
  readonly #link: Link;
  readonly #handle: number;
  /** Shared by all handles of the door to this collection. */
  readonly #turns: Turns;
  readonly #events: PortEvents;

  constructor(link: Link, settings: CollectionSettings, turns: Turns, events: PortEvents) {
    this.#link = link;
    this.#handle = link.takeHandle();
    this.#turns = turns;
    this.#events = events;
    // Every later call rejects with the same error when the collection cannot be opened.
    turns.enter(() => this.#send({ op: 'open', settings })).then(events.opened, () => undefined);
  }

  /**
   * Runs an exchange. Its first request is sent before this returns, so that calls keep their order.
   *
   * @param signal Rejects with its reason when it is aborted, and has the engine give up.
   */
  run<T>(exchange: Exchange<T>, signal?: AbortSignal): Promise<T> {
    return this.#begin(signal, (send) =>
      this.#drive(exchange, (request) => {
        // Known from the call on, even if it has to wait for its turn.
        if (request.op === 'drop' && request.enabled) this.#events.dropped();
        return this.#turns.enter(() => send(request));
      }),
    );
  }

  /** Runs an exchange of several requests, between which no other call of this collection comes. */
  runAlone<T>(exchange: Exchange<T>, signal?: AbortSignal): Promise<T> {
    return this.#begin(signal, (send) => this.#turns.enterAlone(() => this.#drive(exchange, send)));
  }

  /** Whether a call would have to wait for another to end. */
  get busy(): boolean {
    return this.#turns.busy;
  }

  /** Where the engine runs, once it does. */
  get started(): Started | undefined {
    return this.#link.channel?.started;
  }

  /** Hears what the engine tells of a live query; the number stands for it in requests. */
  hear(tell: (signal: LiveSignal) => void): number {
    return this.#link.hear(tell);
  }

  unhear(live: number): void {
    this.#link.unhear(live);
  }

  /** Executes a request without waiting; only where the engine runs in this thread. */
  sendNow(request: Ask): unknown {
    return this.#link.sendNow(this.#addressed(request));
  }

  #begin<T>(signal: AbortSignal | undefined, start: (send: Send) => Promise<T>): Promise<T> {
    const refusal = this.#events.refusal();
    if (refusal) return Promise.reject(refusal);
    // Anything else is refused where the other options are.
    if (isAbortSignal(signal)) return this.#until(signal, start);
    return start((request) => this.#send(request));
  }

  #until<T>(signal: AbortSignal, start: (send: Send) => Promise<T>): Promise<T> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const call = Math.random();
    return new Promise<T>((resolve, reject) => {
      const abort = (): void => {
        reject(signal.reason);
        this.#link.withdraw(call, signal.reason);
        // It may have ended by now, and when the engine is lost the call itself says so.
        this.#send({ op: 'abort', call, urgent: true }).catch(() => undefined);
      };
      signal.addEventListener('abort', abort, { once: true });
      start((request) => {
        // What was begun is ended all the same.
        if (request.op === 'scanEnd') return this.#send(request);
        if (signal.aborted) return Promise.reject(signal.reason);
        return this.#send({ ...request, call } as Ask);
      })
        .then(resolve, reject)
        .finally(() => signal.removeEventListener('abort', abort));
    });
  }

  async #drive<T>(exchange: Exchange<T>, send: Send): Promise<T> {
    let step = exchange.next();
    while (!step.done) {
      let answer: unknown;
      try {
        answer = await this.#answer(step.value, send);
      } catch (error) {
        step = exchange.throw(error);
        continue;
      }
      step = exchange.next(answer);
    }
    return step.value;
  }

  #answer(step: Step, send: Send): unknown {
    switch (step.kind) {
      case 'ask':
        return send(step.ask);
      case 'post': {
        const answer = send(step.ask);
        // Collected later; until then a failure must not count as unhandled.
        answer.catch(() => undefined);
        return { answer } as Ticket<never>;
      }
      case 'collect':
        return step.ticket.answer;
      case 'pause':
        return nextTurn();
    }
  }

  #send(request: Ask): Promise<unknown> {
    return this.#link.send(this.#addressed(request));
  }

  #addressed(request: Ask): Request {
    return { ...request, handle: this.#handle } as Request;
  }
}
