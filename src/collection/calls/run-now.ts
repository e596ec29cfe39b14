import { CollectionError } from '../../errors/collection-error.ts';
import type { CallOrder } from './call-order.ts';
import type { Ask, Exchange, Step, Ticket } from './exchange.ts';

/** What exchanges are run over without waiting. */
export interface SyncPort {
  /** The collection's name. */
  readonly name: string;
  readonly turns: CallOrder;
  sendNow(request: Ask): unknown;
}

/** Runs an exchange without waiting for anything, or throws. */
export function runNow<T>(port: SyncPort, exchange: Exchange<T>): T {
  if (port.turns.busy) {
    throw new CollectionError(
      'sync_unavailable',
      'collection.sync cannot be used: an earlier insertMany, or a call with a function, is under way. Await it first.',
      { place: port.name },
    );
  }
  let step = exchange.next();
  while (!step.done) {
    let answer: unknown;
    try {
      answer = answerNow(port, step.value);
    } catch (error) {
      step = exchange.throw(error);
      continue;
    }
    step = exchange.next(answer);
  }
  return step.value;
}

function answerNow(port: SyncPort, step: Step): unknown {
  switch (step.kind) {
    case 'ask':
      return port.sendNow(step.ask);
    case 'post':
      return { answer: port.sendNow(step.ask) } as Ticket<never>;
    case 'collect':
      return step.ticket.answer;
    case 'wait':
    case 'started':
      throw new CollectionError(
        'sync_unavailable',
        'A stream cannot be read without waiting; use the method that returns a promise.',
        { place: port.name },
      );
    case 'pause':
      return undefined;
  }
}
