import { reasonOf } from '../../errors/as-cairn-error.ts';
import { OptionError } from '../../errors/option-error.ts';
import { type SchemaIssue, ValueError } from '../../errors/value-error.ts';
import type { StandardIssue, StandardSchema } from './standard-schema.ts';

/** Issues in the message of an error; its `issues` are all. */
const SHOWN = 3;

/** Passes values through the schema of a collection. */
export class SchemaCheck {
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

  /** @throws {OptionError} `schema_failed`, also where its result or issues are not as Standard Schema has them */
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
