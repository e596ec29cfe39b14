import { type Coroutine, outcome } from '../../../async/coroutine.ts';
import { lateStages } from '../../criteria/late-operators.ts';
import type { Variables } from '../../expressions/operator.ts';
import { operandInvalid } from '../../query-errors.ts';
import { isFields } from '../../value/value-type.ts';
import type { ForeignLookup, LookupAsk, PipelineRun } from '../run.ts';
import type { CompileStage, Documents, Sink, Stage, StageKit, StageScope } from '../stage.ts';

/** Documents that go through the stages together. */
const BATCH = 256;

/** `$lookup`: adds the documents of another collection that belong to each. */
const lookup: CompileStage = (operand, place, scope) => {
  const { kit } = scope;
  const { fieldsOf, fieldName, compileValue, valuesAt } = kit;
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
  const path = join?.foreign;
  const ask: LookupAsk = {
    ...selectingIn(inner as Documents, variables, kit),
    place,
    path: path?.join('.'),
    valuesOf: (document) => (path ? valuesAt(document, path, 0) : []),
  };
  const rules = { from, as, local: join?.local, bound, stages, ask, kit };
  const open = (run: PipelineRun, next: Sink) => new LookupSink(rules, run, next);
  return [{ place, roots, isClosed: false, open }];
};

/** `$unionWith`: the documents of another collection behind these. */
const unionWith: CompileStage = (operand, place, scope) => {
  const { fieldsOf, openStages } = scope.kit;
  const isShort = typeof operand === 'string';
  const given = isShort ? { coll: operand } : fieldsOf(operand, place, ['coll'], ['pipeline']);
  const { coll, pipeline = [] } = given as Record<string, unknown>;
  const from = collectionName(coll, isShort ? place : `${place}.coll`, scope);
  const at = `${place}.pipeline`;
  const stages = scope.compile(pipeline, at, { ...scope, within: '$unionWith' });
  const { criteria } = selectingIn(pipeline as Documents, new Map(), scope.kit);
  const open = (run: PipelineRun, next: Sink): Sink => ({
    take: (documents) => next.take(documents),
    *end() {
      const inner = openStages(stages, run, unended(next));
      yield* run.foreign(from).read({ criteria, place }, function* (documents) {
        for (let at = 0; at < documents.length && !inner.isFull; at += BATCH)
          yield* outcome(inner.take(documents.slice(at, at + BATCH)));
      });
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

/** To be called by their part. */
export function provideJoiningStages(): void {
  lateStages.set('$lookup', lookup);
  lateStages.set('$unionWith', unionWith);
}

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
    return { name, cell: { value: undefined }, ...scope.kit.compileValue(expression, at, scope) };
  });
}

function collectionName(given: unknown, place: string, scope: StageScope): string {
  if (typeof given !== 'string' || given === '')
    throw operandInvalid(place, 'the name of a collection', given);
  scope.foreign.set(given, place);
  return given;
}

type Selecting = Pick<LookupAsk, 'criteria' | 'equal'>;

/** The stages themselves still decide: what is not understood here is left to them. */
function selectingIn(pipeline: Documents, variables: Variables, kit: StageKit): Selecting {
  const criteria: object[] = [];
  const equal: Selecting['equal'][number][] = [];
  for (const { $match } of pipeline as readonly { readonly $match?: object }[]) {
    if (!$match) break;
    for (const [key, value] of Object.entries($match)) {
      if (!hasVariables(value)) criteria.push({ [key]: value });
      else if (key === '$expr') equal.push(...equalitiesIn(value, variables, kit));
    }
  }
  return { criteria, equal };
}

function hasVariables(value: unknown): boolean {
  if (typeof value === 'string') return value.startsWith('$$');
  if (Array.isArray(value)) return value.some(hasVariables);
  return isFields(value) && Object.values(value).some(hasVariables);
}

function equalitiesIn(
  expression: unknown,
  variables: Variables,
  kit: StageKit,
): Selecting['equal'] {
  const { $and, $eq } = isFields(expression) ? expression : {};
  if (Array.isArray($and)) return $and.flatMap((each) => equalitiesIn(each, variables, kit));
  if (!Array.isArray($eq)) return [];
  return [$eq, $eq.toReversed()].flatMap(([one, other]) => {
    const path = kit.pathOf(one);
    const name = typeof other === 'string' && other.startsWith('$$') ? other.slice(2) : '';
    const cell = variables.get(name);
    return path && cell && !path.includes('$') ? [{ path, cell }] : [];
  });
}

interface LookupRules {
  readonly from: string;
  readonly as: readonly string[];
  readonly local: { readonly evaluate: (document: object) => unknown } | undefined;
  readonly bound: readonly Bound[];
  readonly stages: readonly Stage[];
  readonly ask: LookupAsk;
  readonly kit: StageKit;
}

/** Most partners of the documents that are passed on together. */
const MOST_PARTNERS = 4096;

class LookupSink implements Sink {
  readonly #rules: LookupRules;
  readonly #run: PipelineRun;
  readonly #next: Sink;
  readonly #partners: ForeignLookup;
  /** What is added to all documents alike. */
  #same: Documents | undefined;

  constructor(rules: LookupRules, run: PipelineRun, next: Sink) {
    this.#rules = rules;
    this.#run = run;
    this.#next = next;
    const { from, ask } = rules;
    const charge = (bytes: number) => run.charge(bytes, ask.place);
    this.#partners = run.shared(rules, () => run.foreign(from).lookup(ask, charge));
  }

  get isFull(): boolean {
    return this.#next.isFull;
  }

  *take(documents: Documents): Coroutine<void> {
    const { as, local, kit } = this.#rules;
    const values = local && documents.map((document) => local.evaluate(document));
    if (values) yield* this.#partners.load(values);
    let made: object[] = [];
    let weight = 0;
    for (const [at, document] of documents.entries()) {
      const found = yield* this.#partnersOf(document, values?.[at]);
      made.push(kit.withValue(document as Record<string, unknown>, as, found));
      weight += found.length;
      yield* this.#run.breathe();
      if (weight <= MOST_PARTNERS) continue;
      yield* outcome(this.#next.take(made));
      if (this.isFull) return;
      [made, weight] = [[], 0];
    }
    if (made.length > 0) yield* outcome(this.#next.take(made));
  }

  end() {
    return this.#next.end();
  }

  *#partnersOf(document: object, value: unknown): Coroutine<Documents> {
    const { local, bound, stages, ask, kit } = this.#rules;
    if (this.#same) return this.#same;
    for (const { cell, evaluate } of bound) cell.value = evaluate(document);
    const candidates = local ? yield* this.#partners.of(value) : yield* this.#partners.candidates();
    if (stages.length === 0) return candidates;
    const result = new kit.Collected(this.#run, ask.place);
    const sink = kit.openStages(stages, this.#run, result);
    for (let at = 0; at < candidates.length && !sink.isFull; at += BATCH) {
      yield* outcome(sink.take(candidates.slice(at, at + BATCH)));
      yield* this.#run.breathe();
    }
    yield* outcome(sink.end());
    if (!local && bound.length === 0) this.#same = result.documents;
    return result.documents;
  }
}
