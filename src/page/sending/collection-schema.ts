import type { StandardIssue, StandardSchema } from '../../api/standard-schema.ts';
import type { FilePart } from '../../backup/file/file-contents.ts';
import type { Body } from '../../codec/body.ts';
import {
  asCairnError,
  type CairnError,
  OptionError,
  reasonOf,
  type SchemaIssue,
  ValueError,
} from '../../errors/errors.ts';

type Records = Extract<FilePart, { readonly kind: 'records' }>;

/** Passes values through the schema of a collection. */
class SchemaCheck {
  readonly #standard: StandardSchema['~standard'];

  constructor(schema: StandardSchema) {
    this.#standard = schema['~standard'];
  }

  /**
   * @param place Names the value in errors.
   * @returns what the schema makes of it.
   * @throws {ValueError} `schema_violation`; {OptionError} `schema_failed`
   */
  check(value: unknown, place: string): unknown {
    const { issues, output } = this.#run(value);
    if (issues) throw violation(issues, place);
    return output;
  }

  /**
   * @throws {OptionError} `schema_failed`, also where its result or issues are not as Standard
   *   Schema has them
   */
  #run(value: unknown): Validated {
    try {
      const result = this.#standard.validate(value) as Partial<PromiseLike<unknown>> | undefined;
      if (typeof result?.then === 'function') {
        // Nobody else awaits it.
        Promise.resolve(result).catch(() => undefined);
        throw schemaFailed('is asynchronous: give one without async refinements and transforms');
      }
      if (typeof result !== 'object' || result === null)
        throw schemaFailed('returned no result of a Standard Schema');
      const { issues, value: output } = result as Result;
      return issues ? { issues: Array.from(issues, issueOf) } : { output };
    } catch (cause) {
      if (cause instanceof OptionError) throw cause;
      throw schemaFailed(`threw: ${reasonOf(cause)}`, cause);
    }
  }
}

/** The schema of a collection of either type. */
export abstract class CollectionSchema extends SchemaCheck {
  /** Passes an encoded document or value through the schema. */
  protected abstract importedBody(body: Body): Body;

  /** Passes a document as it travels through the schema. */
  protected abstract passReplicated(document: object): void;

  /**
   * Why the schema refuses a document that replication has stored all the same; `undefined` if it
   * does not.
   */
  refusalOf(document: object): CairnError | undefined {
    try {
      this.passReplicated(document);
      return undefined;
    } catch (error) {
      return asCairnError(error);
    }
  }

  /**
   * Passes the records of a file through the schema. @throws {ValueError} `schema_violation` naming
   * the id or key
   */
  importedPart({ records, ...part }: Records): Records {
    const checked = records.map((record) => ({
      ...record,
      body: named(record.key, () => this.importedBody(record.body)),
    }));
    return { ...part, records: checked };
  }
}

/** Names the id or key of what is refused, and with it the refusal of all. */
export function named<T>(key: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof ValueError) error.message += ` It is the one with the id "${key}".`;
    throw error;
  }
}

/** Issues in the message of an error; its `issues` are all. */
const SHOWN = 3;

interface Result {
  readonly issues?: readonly StandardIssue[];
  readonly value?: unknown;
}

interface Validated {
  readonly issues?: readonly SchemaIssue[];
  readonly output?: unknown;
}

export function schemaFailed(why: string, cause?: unknown): OptionError {
  const message = `The schema ${why}. Nothing was stored.`;
  return new OptionError('schema_failed', message, { place: 'schema', cause });
}

function violation(issues: readonly SchemaIssue[], place: string): ValueError {
  const shown = issues
    .slice(0, SHOWN)
    .map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message));
  if (issues.length > SHOWN) shown.push(`${issues.length - SHOWN} more`);
  const message = `The schema refuses ${place}: ${shown.join('; ')}. Nothing was stored.`;
  const steps = issues[0]?.path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`));
  const error = new ValueError('schema_violation', message, {
    place: place + (steps?.join('') ?? ''),
  });
  return Object.assign(error, { issues });
}

function issueOf({ message, path }: StandardIssue): SchemaIssue {
  const keys = Array.from(path ?? [], (step) => (typeof step === 'object' ? step.key : step));
  return {
    path: keys.map((key) => (typeof key === 'number' ? key : String(key))),
    message: String(message),
  };
}
