import { type Coroutine, outcome } from '../../../async/coroutine.ts';
import { operandInvalid } from '../../query-errors.ts';
import { isFields } from '../../value/value-type.ts';
import { BATCH, type PipelineRun } from '../run.ts';
import {
  Collected,
  type CompileStage,
  compileValue,
  type Documents,
  emit,
  fieldName,
  fieldsOf,
  languageOf,
  openStages,
  type Sink,
  type Stage,
  type StageScope,
} from '../stage.ts';
import { valuesAt } from './selecting.ts';
import { withValue } from './shape.ts';

/** `$lookup`: adds the documents of another collection that belong to each. */
const lookup: CompileStage = (operand, place, scope) => {
  const optional = ['localField', 'foreignField', 'let', 'pipeline'];
  const given = fieldsOf(operand, place, ['from', 'as'], optional);
  const from = collectionName(given.from, `${place}.from`, scope);
  const as = fieldName(given.as, `${place}.as`, true).split('.');
  const { localField: local, foreignField: foreign } = given;
  if ((local === undefined) !== (foreign === undefined))
    throw operandInvalid(place, 'given localField and foreignField, or neither', operand);
  if (local === undefined && given.pipeline === undefined)
    throw operandInvalid(place, 'given localField and foreignField, or a pipeline', operand);
  const join =
    local === undefined
      ? undefined
      : {
          local: compileValue(`$${fieldName(local, `${place}.localField`, true)}`, place, scope),
          foreign: fieldName(foreign, `${place}.foreignField`, true).split('.'),
        };
  const bound = variablesIn(given.let, place, scope);
  const variables = new Map(scope.variables);
  for (const { name, cell } of bound) variables.set(name, cell);
  const inner = given.pipeline === undefined ? [] : given.pipeline;
  const stages = scope.compile(inner, `${place}.pipeline`, {
    ...{ ...scope, variables },
    within: '$lookup',
  });
  const roots = new Set([as[0] as string, ...(join?.local.roots ?? [])]);
  for (const one of bound) for (const root of one.roots) roots.add(root);
  const rules = { from, as, join, bound, stages, place };
  const open = (run: PipelineRun, next: Sink) => new LookupSink(rules, run, next);
  return [{ place, roots, isClosed: false, open }];
};

/** `$unionWith`: the documents of another collection behind these. */
const unionWith: CompileStage = (operand, place, scope) => {
  const isShort = typeof operand === 'string';
  const given = isShort ? { coll: operand } : fieldsOf(operand, place, ['coll'], ['pipeline']);
  const { coll, pipeline = [] } = given as Record<string, unknown>;
  const from = collectionName(coll, isShort ? place : `${place}.coll`, scope);
  const at = `${place}.pipeline`;
  const stages = scope.compile(pipeline, at, { ...scope, within: '$unionWith' });
  const open = (run: PipelineRun, next: Sink): Sink => ({
    take: (documents) => next.take(documents),
    *end() {
      const inner = openStages(stages, run, unended(next));
      yield* emit(run, yield* run.foreign(from), inner);
      yield* outcome(inner.end());
      yield* outcome(next.end());
    },
    get isFull() {
      return next.isFull;
    },
  });
  return [{ place, roots: new Set(), isClosed: false, open }];
};

/** Takes what an inner pipeline makes; more may follow. */
function unended(next: Sink): Sink {
  return {
    take: (documents) => next.take(documents),
    end: () => undefined,
    get isFull() {
      return next.isFull;
    },
  };
}

export const joiningStages = { $lookup: lookup, $unionWith: unionWith };

interface Bound {
  readonly name: string;
  readonly cell: { value: unknown };
  readonly evaluate: (document: object) => unknown;
  readonly roots: ReadonlySet<string>;
}

function variablesIn(given: unknown, place: string, scope: StageScope): Bound[] {
  if (given === undefined) return [];
  if (!isFields(given)) throw operandInvalid(`${place}.let`, 'an object of variables', given);
  return Object.entries(given).map(([name, expression]) => {
    const at = `${place}.let.${name}`;
    if (!/^[a-z]\w*$/.test(name)) throw operandInvalid(at, 'named by a small letter', name);
    return { name, cell: { value: undefined }, ...compileValue(expression, at, scope) };
  });
}

function collectionName(given: unknown, place: string, scope: StageScope): string {
  if (typeof given !== 'string' || given === '')
    throw operandInvalid(place, 'the name of a collection', given);
  scope.foreign.set(given, place);
  return given;
}

interface LookupRules {
  readonly from: string;
  readonly as: readonly string[];
  readonly join:
    | {
        readonly local: { readonly evaluate: (document: object) => unknown };
        readonly foreign: readonly string[];
      }
    | undefined;
  readonly bound: readonly Bound[];
  readonly stages: readonly Stage[];
  readonly place: string;
}

class LookupSink implements Sink {
  readonly #rules: LookupRules;
  readonly #run: PipelineRun;
  readonly #next: Sink;
  /** The other collection's documents by their value, once they are read. */
  #byValue: ReadonlyMap<unknown, object[]> | undefined;
  /** What is added to all documents alike. */
  #same: Documents | undefined;

  constructor(rules: LookupRules, run: PipelineRun, next: Sink) {
    this.#rules = rules;
    this.#run = run;
    this.#next = next;
  }

  get isFull(): boolean {
    return this.#next.isFull;
  }

  *take(documents: Documents): Coroutine<void> {
    const { as } = this.#rules;
    const made: object[] = [];
    for (const document of documents) {
      const found = yield* this.#partnersOf(document);
      made.push(withValue(document as Record<string, unknown>, as, found));
      yield* this.#run.breathe();
    }
    yield* outcome(this.#next.take(made));
  }

  end() {
    return this.#next.end();
  }

  *#partnersOf(document: object): Coroutine<Documents> {
    const { from, join, bound, stages, place } = this.#rules;
    if (this.#same) return this.#same;
    const candidates = join
      ? yield* this.#joined(join.local.evaluate(document), join.foreign)
      : yield* this.#run.foreign(from);
    if (stages.length === 0) return candidates;
    for (const { cell, evaluate } of bound) cell.value = evaluate(document);
    const result = new Collected(this.#run, place);
    const sink = openStages(stages, this.#run, result);
    for (let at = 0; at < candidates.length && !sink.isFull; at += BATCH) {
      yield* outcome(sink.take(candidates.slice(at, at + BATCH)));
      yield* this.#run.breathe();
    }
    yield* outcome(sink.end());
    if (!join && bound.length === 0) this.#same = result.documents;
    return result.documents;
  }

  /** Those that have the value, or one of its items. */
  *#joined(value: unknown, path: readonly string[]): Coroutine<Documents> {
    this.#byValue ??= tableOf(yield* this.#run.foreign(this.#rules.from), path);
    const { keyOf } = languageOf();
    if (!Array.isArray(value)) return this.#byValue.get(keyOf(value ?? null)) ?? [];
    const found = new Set<object>();
    for (const item of value)
      for (const one of this.#byValue.get(keyOf(item ?? null)) ?? []) found.add(one);
    return value.length > 1
      ? (yield* this.#run.foreign(this.#rules.from)).filter((one) => found.has(one))
      : [...found];
  }
}

function tableOf(documents: Documents, path: readonly string[]): Map<unknown, object[]> {
  const { keyOf } = languageOf();
  const table = new Map<unknown, object[]>();
  for (const document of documents) {
    const values = [...valuesAt(document, path, 0)];
    const keys = new Set(
      (values.length > 0 ? values : [null]).map((value) => keyOf(value ?? null)),
    );
    for (const key of keys) {
      const bucket = table.get(key);
      if (bucket) bucket.push(document);
      else table.set(key, [document]);
    }
  }
  return table;
}
