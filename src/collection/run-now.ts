import { CollectionError } from '../errors/collection-error.ts';
import type { Exchange, Step, Ticket } from './exchange.ts';
import type { Port } from './port.ts';

/** Runs an exchange without waiting for anything, or throws. */
export function runNow<T>(port: Port, exchange: Exchange<T>): T {
  if (port.turns.busy) {
    throw new CollectionError(
      'sync_unavailable',
      'collection.sync cannot be used: an earlier insertMany, or a call with a function, is under way.',
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

function answerNow(port: Port, step: Step): unknown {
  switch (step.kind) {
    case 'ask':
      return port.sendNow(step.ask);
    case 'post':
      return { answer: port.sendNow(step.ask) } as Ticket<never>;
    case 'collect':
      return step.ticket.answer;
    case 'wait':
      throw new CollectionError('sync_unavailable', 'A stream cannot be read without waiting.');
    case 'pause':
      return undefined;
  }
}
