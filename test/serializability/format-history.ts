import { encode, type History, type Operation, type State } from './history.ts';

/** A history, one line for each transaction, in the order in which they began. */
export function formatHistory({ initial, transactions, finals }: History): string {
  const width = Math.max(0, ...transactions.map(({ id }) => id.length));
  const lines = transactions
    .toSorted((a, b) => a.invoked - b.invoked)
    .map(({ id, status, invoked, completed, operations }) => {
      const end = status === 'unknown' ? '?' : formatTime(completed);
      const times = `${formatTime(invoked)}–${end}`;
      const what = operations.map(formatOperation).join('; ');
      return `${id.padEnd(width)} ${status.padEnd(9)} ${times}: ${what}`;
    });
  const states = finals.map(({ when, state }) => `${when}: ${formatState(state)}`);
  return [`initial: ${formatState(initial)}`, ...lines, ...states].join('\n');
}

function formatOperation(operation: Operation): string {
  switch (operation.kind) {
    case 'read':
      return `${operation.key} is ${encode(operation.value)}`;
    case 'query':
      return `${operation.text ?? 'query'} finds ${formatState(operation.keysAndValues)}`;
    case 'write':
      return operation.value === undefined
        ? `delete ${operation.key}`
        : `${operation.key} := ${encode(operation.value)}`;
  }
}

function formatState(state: State): string {
  const pairs = Object.entries(state).map(([key, value]) => `${key} = ${encode(value)}`);
  return `{${pairs.join(', ')}}`;
}

function formatTime(time: number): string {
  return String(Math.round(time * 10) / 10);
}
