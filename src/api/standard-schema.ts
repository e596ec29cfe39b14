/**
 * A schema of any library that implements Standard Schema (https://standardschema.dev), version 1:
 * Zod, Valibot, ArkType, Effect Schema and others.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    /** The library. */
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** For types alone. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What `validate` returns: the output, or why there is none. */
type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** An issue as the library reports it. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type that a schema accepts. */
export type SchemaInput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['input'];

/** The type that a schema returns, and that is stored. */
export type SchemaOutput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['output'];

/**
 * A schema that accepts what it returns. `patch` and `modify` check the whole document, so stored
 * fields pass through the schema again.
 */
export type Repeatable<S extends StandardSchema> =
  SchemaOutput<S> extends SchemaInput<S>
    ? unknown
    : 'The schema must accept what it returns: stored documents pass through it again.';
