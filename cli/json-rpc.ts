import { createInterface } from 'node:readline';

/** Answers a request; what it throws is the error of the answer. */
export type Method = (params: Readonly<Record<string, unknown>>) => unknown;

/** An error of the protocol, with its code. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export const INVALID_PARAMS = -32602;
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/**
 * Answers the requests of JSON-RPC 2.0 that come over stdin, one a line, until it ends. Requests
 * are answered as they are done, so a slow one delays no other.
 */
export async function serveRpc(methods: Readonly<Record<string, Method>>): Promise<void> {
  const send = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`);
  const open = new Set<Promise<void>>();
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue;
    const answer = answersTo(line, methods).then((message) => {
      if (message) send(message);
      open.delete(answer);
    });
    open.add(answer);
  }
  await Promise.all(open);
}

async function answersTo(
  line: string,
  methods: Readonly<Record<string, Method>>,
): Promise<object | undefined> {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return failed(null, new RpcError(PARSE_ERROR, 'A message is a line of JSON.'));
  }
  // Clients of 2025-03-26 may send many in one.
  if (!Array.isArray(message) || message.length === 0) return answerTo(message, methods);
  const answers = await Promise.all(message.map((one) => answerTo(one, methods)));
  const wanted = answers.filter((answer) => answer !== undefined);
  return wanted.length > 0 ? wanted : undefined;
}

async function answerTo(
  given: unknown,
  methods: Readonly<Record<string, Method>>,
): Promise<object | undefined> {
  let id: unknown = null;
  try {
    const message = checkMessage(given);
    // A message without an id wants no answer; one without a method is an answer.
    if (message.method === undefined) return undefined;
    id = message.id;
    if (typeof message.method !== 'string') throw new RpcError(INVALID_REQUEST, 'No method.');
    const method = Object.hasOwn(methods, message.method) ? methods[message.method] : undefined;
    if (id === undefined) return undefined;
    if (!method) throw new RpcError(METHOD_NOT_FOUND, `There is no method "${message.method}".`);
    const result = await method((message.params ?? {}) as Record<string, unknown>);
    return { jsonrpc: '2.0', id, result };
  } catch (error) {
    return failed(id, error as Partial<RpcError>);
  }
}

function failed(id: unknown, { code, message }: Partial<RpcError>): object {
  const error = { code: typeof code === 'number' ? code : INTERNAL_ERROR, message };
  return { jsonrpc: '2.0', id, error };
}

function checkMessage(message: unknown): Message {
  if (typeof message === 'object' && message !== null && !Array.isArray(message)) return message;
  throw new RpcError(INVALID_REQUEST, 'A message is an object.');
}
