import { findCycle } from '../serializability/find-cycle.ts';
import { findSerialOrder } from '../serializability/find-serial-order.ts';
import { formatHistory } from '../serializability/format-history.ts';
import type { History, Transaction } from '../serializability/history.ts';
import type { TransactionClient } from './transaction-client.ts';

/** Something after which unsaved changes may be lost, or come late. */
export interface Incident {
  /** When, by the times of the log. */
  readonly at: number;
  /** Whether no tab is left. */
  readonly isOfAll: boolean;
  readonly isFreeze: boolean;
  readonly struck: ReadonlySet<TransactionClient>;
}

/** Beyond these the exact search takes too long. */
const FEW = 16;

/**
 * Checks what was written down.
 *
 * @param rest When everything was at rest.
 * @returns what is wrong.
 */
export function checkHistories(
  history: History,
  clients: readonly TransactionClient[],
  rest: number,
  incident: Incident | undefined,
): string[] {
  if (!incident) {
    const refused = clients.filter(({ hasHeardOfRefusal }) => hasHeardOfRefusal);
    const problems = refused.map(({ tab }) => `tab ${tab.id} heard of a refused transaction`);
    return [...problems, ...check('all in all', history)];
  }
  const clientOf = (id: string) => clients.find(({ attempts }) => attempts.has(id));
  // One that is closed hears of nothing.
  const refusal = clients.some(({ hasHeardOfRefusal }) => hasHeardOfRefusal);
  const mayBeRefused = (client: TransactionClient) =>
    client.hasHeardOfRefusal || (refusal && client.closed);
  return [
    ...check('before the misfortune', before(history, incident)),
    ...check(
      'after the misfortune',
      after(history, incident, {
        rest,
        clientOf: ({ id }) => clientOf(id) as TransactionClient,
        mayBeRefused,
      }),
    ),
  ];
}

interface Promises {
  /** When everything was at rest. */
  readonly rest: number;
  readonly clientOf: (transaction: Transaction) => TransactionClient;
  readonly mayBeRefused: (client: TransactionClient) => boolean;
}

/**
 * What was begun before: without a final state, and what had not ended is unknown, also where it is
 * tried again because its engine was lost: that may have committed it.
 */
function before(history: History, { at }: Incident): History {
  const transactions = history.transactions
    .filter(({ invoked }) => invoked < at)
    .map((one): Transaction => (one.completed < at ? one : { ...one, status: 'unknown' }));
  return { ...history, transactions, finals: [] };
}

/**
 * What was there afterwards, by what is promised. What a tab had not saved may be lost with it, and
 * what it had read is another thing then; but each is there as a whole, or not.
 */
function after(
  history: History,
  { at, isOfAll, isFreeze, struck }: Incident,
  { rest, clientOf, mayBeRefused }: Promises,
): History {
  const transactions = history.transactions.map((one): Transaction => {
    if (one.invoked > at || one.status === 'aborted') return one;
    const client = clientOf(one);
    const isSaved = client.saved.has(one.id);
    const isKilled = struck.has(client) && !isFreeze;
    const mayBeLost = !isSaved && (isKilled || mayBeRefused(client));
    const status = mayBeLost ? 'unknown' : one.status;
    // Nobody repeats anything, but the journals of pages that ended before: what survives has read
    // what survives.
    if (isOfAll && struck.has(client)) return { ...one, status };
    const operations = one.operations.filter(({ kind }) => kind === 'write');
    // A frozen tab repeats its transactions when it wakes up.
    const completed = struck.has(client) && isFreeze && !isSaved ? rest : one.completed;
    return { ...one, status, operations, completed };
  });
  return { ...history, transactions };
}

function check(when: string, history: History): string[] {
  const cycle = findCycle(history);
  const isWrong = cycle || (isSmall(history) && !findSerialOrder(history));
  if (!isWrong) return [];
  const what = cycle
    ? `${cycle.kind} of ${cycle.transactions}: ${cycle.explanation}`
    : 'no serial order';
  return [`${when}: ${what}\n${formatHistory(history)}`];
}

function isSmall({ transactions, finals }: History): boolean {
  const counted = transactions.filter(({ status }) => status !== 'aborted');
  return counted.length + finals.length <= FEW;
}
