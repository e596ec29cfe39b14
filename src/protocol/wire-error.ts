import {
  BackupError,
  CairnError,
  CollectionError,
  CriteriaError,
  KeyError,
  MigrationError,
  OptionError,
  StorageError,
  TransactionError,
  ValueError,
  WorkerError,
} from '../errors/errors.ts';
import { ReplicationError } from '../errors/replication-error.ts';

/** An error in a message. Structured clone keeps neither class, code nor cause. */
export interface WireError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  /** Only on errors of Cairn. */
  readonly code: string | undefined;
  readonly place: string | undefined;
  readonly cause: WireError | undefined;
}

type ErrorClass = new (
  code: never,
  message: string,
  details: { place: string | undefined; cause: unknown },
) => CairnError;

const classes: Record<string, ErrorClass> = {
  BackupError,
  CairnError,
  CollectionError,
  CriteriaError,
  KeyError,
  MigrationError,
  OptionError,
  StorageError,
  ReplicationError,
  TransactionError,
  ValueError,
  WorkerError,
};

/** Longest chain of causes: a longer one may be a cycle. */
const MAX_CAUSES = 8;

/** @param above Errors above this one in its chain of causes. */
export function toWire(error: unknown, above = 0): WireError {
  const { name, message, stack, cause } =
    error instanceof Object ? (error as Error) : new Error(String(error));
  return {
    name: String(name),
    message: String(message),
    stack: typeof stack === 'string' ? stack : undefined,
    code: error instanceof CairnError ? error.code : undefined,
    place: error instanceof CairnError ? error.place : undefined,
    cause: cause === undefined || above === MAX_CAUSES ? undefined : toWire(cause, above + 1),
  };
}

export function fromWire({
  name,
  message,
  stack,
  code,
  place,
  cause: wireCause,
}: WireError): Error {
  const cause = wireCause && fromWire(wireCause);
  const Class = code === undefined ? undefined : (classes[name] ?? CairnError);
  const error = Class
    ? new Class(code as never, message, { place, cause })
    : new Error(message, { cause });
  if (!Class) error.name = name;
  // The stack of the worker, not of this function.
  if (stack !== undefined) error.stack = stack;
  return error;
}
