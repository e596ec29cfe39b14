import type { Request } from '../engine/protocol.ts';
import type { CollectionSettings } from '../engine/settings.ts';
import type { Started } from '../transport/channel.ts';
import type { Link } from '../transport/link.ts';
import { nextTurn } from '../transport/next-turn.ts';
import type { Ask, Exchange, Step, Ticket } from './exchange.ts';

/** What a port tells its door. */
export interface PortEvents {
  readonly opened: () => void;
  /** The collection is being dropped; its name is free. */
  readonly dropped: () => void;
}

/** One collection's end of the link: adds the handle, keeps its calls in order, runs exchanges. */
export class Port {
  readonly #link: Link;
  readonly #handle: number;
  /** Requests that wait for an exchange that must not be interrupted; `undefined` while there is none. */
  #held: (() => void)[] | undefined;

  readonly #events: PortEvents;

  constructor(link: Link, settings: CollectionSettings, events: PortEvents) {
    this.#link = link;
    this.#handle = link.takeHandle();
    this.#events = events;
    // Every later call rejects with the same error when the collection cannot be opened.
    this.#send({ op: 'open', settings }).then(events.opened, () => undefined);
  }

  /** Runs an exchange. Its first request is sent before this returns, so that calls keep their order. */
  run<T>(exchange: Exchange<T>): Promise<T> {
    return this.#drive(exchange, (request) => this.#inTurn(request));
  }

  /** Runs an exchange of several requests, between which no other call of this collection comes. */
  async runAlone<T>(exchange: Exchange<T>): Promise<T> {
    while (this.#held) {
      const held = this.#held;
      await new Promise<void>((resolve) => held.push(resolve));
    }
    const held: (() => void)[] = [];
    this.#held = held;
    try {
      return await this.#drive(exchange, (request) => this.#send(request));
    } finally {
      this.#held = undefined;
      for (const release of held) release();
    }
  }

  /** Where the engine runs, once it does. */
  get started(): Started | undefined {
    return this.#link.channel?.started;
  }

  /** Executes a request without waiting; only where the engine runs in this thread. */
  sendNow(request: Ask): unknown {
    return this.#link.sendNow(this.#addressed(request));
  }

  async #drive<T>(exchange: Exchange<T>, send: (request: Ask) => Promise<unknown>): Promise<T> {
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

  #answer(step: Step, send: (request: Ask) => Promise<unknown>): unknown {
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

  #inTurn(request: Ask): Promise<unknown> {
    return this.#held ? this.#afterHeld(request, this.#held) : this.#send(request);
  }

  async #afterHeld(request: Ask, held: (() => void)[]): Promise<unknown> {
    await new Promise<void>((resolve) => held.push(resolve));
    return this.#inTurn(request);
  }

  #send(request: Ask): Promise<unknown> {
    if (request.op === 'drop' && request.enabled) this.#events.dropped();
    return this.#link.send(this.#addressed(request));
  }

  #addressed(request: Ask): Request {
    return { ...request, handle: this.#handle } as Request;
  }
}
