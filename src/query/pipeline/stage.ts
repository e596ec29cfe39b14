import { type Coroutine, outcome, type Result } from '../../async/coroutine.ts';
import { loadedLanguage } from '../criteria/late-operators.ts';
import type { Block } from '../expressions/id-part.ts';
import type { Variables } from '../expressions/operator.ts';
import type { Language } from '../expressions/part.ts';
import { valueReader } from '../path/own-property.ts';
import { operandInvalid } from '../query-errors.ts';
import { isFields } from '../value/value-type.ts';
import { BATCH, type PipelineRun } from './run.ts';

export type Documents = readonly object[];

/** The rows 0, 1, 2 … of a list. */
let allRows = new Int32Array(0);

export function rowsOf(length: number): Int32Array {
  if (allRows.length < length) allRows = Int32Array.from({ length: 2 * length }, (_, at) => at);
  return allRows;
}

/** What takes the documents that a stage makes. */
export interface Sink {
  take(documents: Documents): Result<void>;
  /** The same for a block, of a stage that reads columns. */
  takeBlock?(block: Block): void;
  /** There are no more. */
  end(): Result<void>;
  /** Whether no further document counts. */
  readonly isFull: boolean;
  /** The next that may be full where this is not: a long pipeline would call each one's next. */
  readonly until?: Sink | undefined;
}

/** A compiled stage. It keeps nothing between two runs. */
export interface Stage {
  readonly place: string;
  /** First segments of the paths that it reads; `_id` where it reads whole documents. */
  readonly roots: ReadonlySet<string>;
  /** Whether nothing of its input passes it but what it reads. */
  readonly isClosed: boolean;
  /** Of one that makes the number of its documents: the field that has it. */
  readonly counts?: string;
  /** Of one that passes on some documents by their place: how many it skips, and lets through. */
  readonly cut?: { readonly skip: number; readonly limit: number };
  /** Of a stage that looks at one document after another. */
  readonly change?: (documents: Documents) => Documents;
  /** Of all others. */
  readonly open: (run: PipelineRun, next: Sink) => Sink;
}

export interface StageScope {
  /** The time that `$$NOW` stands for. */
  readonly now: number;
  /** Those of `let` around the pipeline. */
  readonly variables?: Variables | undefined;
  /** The order of strings. */
  readonly collation: string | undefined;
  /** Other collections that are read, with where they are named. */
  readonly foreign: Map<string, string>;
  /** How many stages there are so far, those of inner pipelines included. */
  readonly count: { stages: number };
  /** The stage around them, where they are of an inner pipeline. */
  readonly within?: string;
  readonly compile: (pipeline: unknown, place: string, scope: StageScope) => readonly Stage[];
  readonly kit: StageKit;
}

/** What stages of another part are made with: code of two parts would be in both, or in none. */
export interface StageKit {
  readonly Collected: typeof Collected;
  readonly compileValue: typeof compileValue;
  readonly fieldName: typeof fieldName;
  readonly fieldsOf: typeof fieldsOf;
  readonly openStages: typeof openStages;
  readonly pathOf: typeof pathOf;
  /** The values at a path, of arrays their items. */
  readonly valuesAt: (
    value: unknown,
    segments: readonly string[],
    level: number,
  ) => Iterable<unknown>;
  readonly withValue: (
    fields: Readonly<Record<string, unknown>>,
    path: readonly string[],
    value: unknown,
  ) => object;
}

/** Compiles a stage, or what it is short for. */
export type CompileStage = (operand: unknown, place: string, scope: StageScope) => readonly Stage[];

export interface StageExpression {
  readonly evaluate: (document: object) => unknown;
  readonly roots: ReadonlySet<string>;
  /** The path, where it is nothing else. */
  readonly path: string | undefined;
  /** Its fields, where it is an object of expressions. */
  readonly parts?: readonly (StageExpression & { readonly name: string })[] | undefined;
}

/** The compilers of expressions: the request has waited for their part. */
export function languageOf(): Language {
  return loadedLanguage() as Language;
}

/** @throws {CriteriaError} naming the place */
export function compileValue(
  expression: unknown,
  place: string,
  scope: StageScope,
): StageExpression {
  const compiled = languageOf().compileExpression(expression, place, scope);
  const path = pathOf(expression);
  return { ...compiled, evaluate: readerAt(path, compiled.evaluate), path };
}

/** What reads a path of documents, several times faster where no array is on the way. */
export function readerAt(
  path: string | undefined,
  evaluate: (document: object) => unknown,
): (document: object) => unknown {
  if (path === undefined) return evaluate;
  const read = valueReader(path);
  if (!path.includes('.')) return read;
  return (document) => {
    const value = read(document);
    return Array.isArray(value) ? evaluate(document) : value;
  };
}

/** The same, with its fields. */
export function compileFields(
  expression: unknown,
  place: string,
  scope: StageScope,
): StageExpression {
  const compiled = compileValue(expression, place, scope);
  const entries = isFields(expression) ? Object.entries(expression) : [];
  if (entries.length === 0 || entries.some(([name]) => name.startsWith('$'))) return compiled;
  const parts = entries.map(([name, value]) => ({
    name,
    ...compileValue(value, `${place}.${name}`, scope),
  }));
  return { ...compiled, parts };
}

/** The path that an expression consists of; `undefined` where it is another. */
export function pathOf(expression: unknown): string | undefined {
  const isPath = typeof expression === 'string' && /^\$[^$]/.test(expression);
  return isPath ? expression.slice(1) : undefined;
}

/** A stage that makes documents of documents, one after another. */
export function rowStage(
  place: string,
  roots: ReadonlySet<string>,
  isClosed: boolean,
  change: (documents: Documents) => Documents,
): Stage {
  return { place, roots, isClosed, change, open: (_, next) => rowSink([change], next) };
}

/** Passes on at once what it makes of documents. @param isFull where it ends on its own */
export function passing(
  next: Sink,
  take: Sink['take'],
  isFull?: () => boolean,
  end = () => next.end(),
): Sink {
  const last = next.until ?? next;
  return {
    take,
    end,
    get isFull() {
      return isFull?.() || last.isFull;
    },
    until: isFull ? undefined : last,
  };
}

/** Passes on what it makes of all documents together. */
export function gathering(
  run: PipelineRun,
  next: Sink,
  take: (documents: Documents) => void,
  make: () => Iterable<object> | { readonly later: Coroutine<Iterable<object>> },
): Sink {
  return {
    isFull: false,
    take,
    *end() {
      const made = make();
      yield* emit(run, 'later' in made ? yield* made.later : made, next);
      yield* outcome(next.end());
    },
  };
}

/** A stage that keeps all documents until there are no more. */
export function keepingStage(
  place: string,
  roots: ReadonlySet<string>,
  isClosed: boolean,
  make: (documents: object[], run: PipelineRun) => Coroutine<Iterable<object>>,
): Stage {
  const open = (run: PipelineRun, next: Sink): Sink => {
    const all = new Collected(run, place);
    const take = (documents: Documents) => all.take(documents);
    return gathering(run, next, take, () => ({ later: make(all.documents, run) }));
  };
  return { place, roots, isClosed, open };
}

/** Several of them are one step. */
function rowSink(changes: readonly NonNullable<Stage['change']>[], next: Sink): Sink {
  return passing(next, function* (documents) {
    let changed = documents;
    for (const change of changes) {
      if (changed.length === 0) return;
      changed = change(changed);
    }
    if (changed.length > 0) yield* outcome(next.take(changed));
  });
}

/** Passes on a list in batches, and yields in between. */
export function* emit(run: PipelineRun, documents: Iterable<object>, next: Sink): Coroutine<void> {
  let batch: object[] = [];
  for (const document of documents) {
    batch.push(document);
    if (batch.length < BATCH) continue;
    if (next.isFull) return;
    yield* outcome(next.take(batch));
    yield* run.breathe();
    batch = [];
  }
  if (batch.length > 0 && !next.isFull) yield* outcome(next.take(batch));
}

/** Collects the documents that come out at the end. */
export class Collected implements Sink {
  readonly isFull = false;
  readonly documents: object[] = [];
  readonly #run: PipelineRun;
  readonly #place: string;

  constructor(run: PipelineRun, place: string) {
    this.#run = run;
    this.#place = place;
  }

  take(documents: Documents): void {
    this.#run.keep(documents, this.#place);
    for (const document of documents) this.documents.push(document);
  }

  end(): void {
    // They stay here.
  }
}

/** Stages that call each other before the call stack of a worker could run out. */
const MOST_NESTED = 100;

/** What the stages of a pipeline make of documents, the first of them in front. */
export function openStages(stages: readonly Stage[], run: PipelineRun, last: Sink): Sink {
  /** What stages of a long pipeline have passed on, and nobody has taken. */
  const waiting: (() => Result<void>)[] = [];
  let sink = last;
  let nested = 0;
  let changes: NonNullable<Stage['change']>[] = [];
  const add = (opened: Sink) => {
    sink = ++nested % MOST_NESTED === 0 ? relay(opened, waiting) : opened;
  };
  for (const { change, open } of stages.toReversed()) {
    if (change) {
      changes.unshift(change);
      continue;
    }
    if (changes.length > 0) add(rowSink(changes, sink));
    changes = [];
    add(open(run, sink));
  }
  if (changes.length > 0) add(rowSink(changes, sink));
  return nested < MOST_NESTED ? sink : relayed(sink, waiting);
}

function relay(next: Sink, waiting: (() => Result<void>)[]): Sink {
  const put = (one: () => Result<void>) => {
    waiting.push(one);
  };
  const take = (documents: Documents) => put(() => next.take(documents));
  return passing(next, take, undefined, () => put(() => next.end()));
}

function relayed(first: Sink, waiting: (() => Result<void>)[]): Sink {
  function* through(begun: Result<void>): Coroutine<void> {
    yield* outcome(begun);
    for (let one = waiting.shift(); one; one = waiting.shift()) yield* outcome(one());
  }
  const take = (documents: Documents) => through(first.take(documents));
  return passing(first, take, undefined, () => through(first.end()));
}

/** First segments of the paths that stages read; `undefined` where that is the whole document. */
export function rootsOf(stages: readonly Stage[]): ReadonlySet<string> | undefined {
  const roots = new Set<string>();
  for (const stage of stages) {
    for (const root of stage.roots) roots.add(root);
    if (stage.isClosed) return roots;
  }
  return undefined;
}

export const NO_ROOTS: ReadonlySet<string> = new Set();

/** @throws {CriteriaError} `operand_invalid` unless it is an object of these fields. */
export function fieldsOf(
  operand: unknown,
  place: string,
  required: readonly string[],
  optional: readonly string[] = [],
): Record<string, unknown> {
  const shown = [...required, ...optional.map((name) => `${name}?`)].join(', ');
  if (!isFields(operand)) throw operandInvalid(place, `an object { ${shown} }`, operand);
  for (const name of Object.keys(operand))
    if (!required.includes(name) && !optional.includes(name))
      throw operandInvalid(`${place}.${name}`, `left out: there are ${shown}`, operand[name]);
  for (const name of required)
    if (operand[name] === undefined)
      throw operandInvalid(`${place}.${name}`, `given, in { ${shown} }`, undefined);
  return operand;
}

/** @throws {CriteriaError} `operand_invalid` unless it is a name of a field. */
export function fieldName(name: unknown, place: string, isPath = false): string {
  const segments = typeof name === 'string' ? (isPath ? name.split('.') : [name]) : [''];
  const isName = (one: string) =>
    one !== '' && !one.startsWith('$') && !one.includes('.') && one !== '__proto__';
  if (segments.every(isName)) return name as string;
  throw operandInvalid(place, isPath ? 'a path without $' : 'a name without $ and dots', name);
}
