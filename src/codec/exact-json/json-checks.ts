import { BackupError, Malformed } from '../../errors/errors.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** @throws {Malformed} unless it is an object. @param name Its name in the error. */
export function asObject(value: unknown, name: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Malformed(`${name} is not an object`);
  }
  return value as JsonObject;
}

export function asArray(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Malformed(`${name} is not an array`);
  return value;
}

export function asString(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new Malformed(`${name} is not a string`);
  return value;
}

export function asInteger(value: unknown, name: string, least: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < least) {
    throw new Malformed(`${name} is not a whole number from ${least}`);
  }
  return value as number;
}

/** Refuses unknown fields, which would be lost: a format with more fields has a higher number. */
export function onlyFields(line: JsonObject, known: ReadonlySet<string>): void {
  for (const name of Object.keys(line)) {
    if (!known.has(name)) throw new Malformed(`it has an unknown field "${name.slice(0, 40)}"`);
  }
}

/** @param what The feature that the browser lacks. */
export function fileUnsupported(what: string): BackupError {
  const message = `The file needs ${what}, which this browser lacks. Use a newer browser.`;
  return new BackupError('file_unsupported', message, { place: what });
}
