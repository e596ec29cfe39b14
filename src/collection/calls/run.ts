import { nextTurn } from '../../engine/scheduling/next-turn.ts';
import type { Ask, Exchange, Step, Ticket } from './exchange.ts';
import type { CallPort } from './port.ts';

type Send = (request: Ask) => Promise<unknown>;
type Start<T> = (send: Send) => Promise<T>;

/**
 * Runs an exchange with promises. Its first request is sent before this returns, so that calls keep their order.
 *
 * @param signal Rejects with its reason when it is aborted, and has the engine give up.
 * @param alone Whether no other call of this collection may come between its requests.
 */
export function run<T>(
  port: CallPort,
  exchange: Exchange<T>,
  signal?: AbortSignal,
  alone = false,
): Promise<T> {
  const { turns } = port;
  const start: Start<T> = alone
    ? (send) => turns.enterAlone(() => drive(port, exchange, send))
    : (send) => drive(port, exchange, (request) => turns.enter(() => send(request)));
  return signal ? until(port, signal, start) : start((request) => port.send(request));
}

function until<T>(port: CallPort, signal: AbortSignal, start: Start<T>): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason);
  const call = Math.random();
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason);
      port.withdraw(call, signal.reason);
      // It may have ended by now, and when the engine is lost the call itself says so.
      port.send({ op: 'abort', call, urgent: true }).catch(() => undefined);
    };
    signal.addEventListener('abort', abort, { once: true });
    start((request) => {
      // What was begun is ended all the same.
      if (request.op === 'scanEnd') return port.send(request);
      if (signal.aborted) return Promise.reject(signal.reason);
      return port.send({ ...request, call } as Ask);
    })
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort));
  });
}

async function drive<T>(port: CallPort, exchange: Exchange<T>, send: Send): Promise<T> {
  let step = exchange.next();
  while (!step.done) {
    let answer: unknown;
    try {
      answer = await answerTo(port, step.value, send);
    } catch (error) {
      step = exchange.throw(error);
      continue;
    }
    step = exchange.next(answer);
  }
  return step.value;
}

function answerTo(port: CallPort, step: Step, send: Send): unknown {
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
    case 'wait':
      return step.promise;
    case 'started':
      return port.started;
    case 'pause':
      return nextTurn();
  }
}
