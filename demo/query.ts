import { CriteriaError, type FindOptions, type Params } from 'cairndb';
import type { City } from './city.ts';

/** What is looked for. */
export interface Query {
  readonly params: Params<City>;
  readonly archived: NonNullable<FindOptions['archived']>;
}

/** The two forms that a query can be typed in. */
export type QueryForm = 'criteria' | 'function';

/** What was typed cannot be read, in words for whoever typed it. */
class UnreadableQuery extends Error {}

export function readParams(form: QueryForm, text: string): Params<City> {
  return form === 'criteria' ? readCriteria(text) : readFunction(text);
}

function readCriteria(text: string): Params<City> {
  try {
    return JSON.parse(text.trim() || '{}');
  } catch (cause) {
    throw new UnreadableQuery(`This is not JSON yet. ${messageOf(cause)}`, { cause });
  }
}

/** Runs what the visitor typed, in the visitor's own page: that is what the field is for. */
function readFunction(text: string): Params<City> {
  let predicate: unknown;
  try {
    predicate = new Function(`'use strict'; return (${text}\n);`)();
  } catch (cause) {
    throw new UnreadableQuery(`This is not a function yet. ${messageOf(cause)}`, { cause });
  }
  if (typeof predicate === 'function') return predicate as Params<City>;
  throw new UnreadableQuery(
    'Type a function that takes a city, such as (city) => city.population > 1e6',
  );
}

/** What is wrong with a query, in words. */
export function explainProblem(error: unknown): string {
  if (error instanceof CriteriaError || error instanceof UnreadableQuery) return error.message;
  return `The query stopped. ${messageOf(error)}`;
}

/** Where in the typed criteria the trouble is, if it can be told. */
export function locateProblem(
  error: unknown,
  text: string,
): [from: number, to: number] | undefined {
  if (!(error instanceof CriteriaError) || !error.place) return undefined;
  const key = error.place
    .split(/[.[\]]+/)
    .filter((step) => step !== '' && !/^\d+$/.test(step))
    .pop();
  const quoted = JSON.stringify(key);
  const at = text.indexOf(quoted);
  return at < 0 ? undefined : [at, at + quoted.length];
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
