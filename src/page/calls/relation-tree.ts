import type { RelationOption, RelationOptions } from '../../api/options/collection-options.ts';
import { type Check, checkOptions } from '../../api/options/option-checks.ts';
import { capture } from '../../codec/capture.ts';
import { isPlainObject } from '../../codec/kinds.ts';
import { CriteriaError, OptionError, reasonOf } from '../../errors/errors.ts';
import { nearestName } from '../../errors/nearest-name.ts';
import type { PartName } from '../../protocol/parts.ts';
import type { IncludeAsk, Link, RelatedAsk } from '../../protocol/relation-protocol.ts';
import type { RequestFlags } from '../../protocol/requests.ts';
import type { CollectionSettings } from '../../protocol/settings.ts';
import { operandInvalid, operatorUnknown, placeBelow } from '../../query/query-errors.ts';
import { MANAGED_FIELDS } from '../../storage/segments/stored-record.ts';
import type { CallOrder } from '../connection/call-order.ts';
import { checkCriteria } from '../find/find-query.ts';
import { findChecks } from '../find/search.ts';
import type { HandleChannel } from '../sending/handle-channel.ts';

/** An open handle of a collection, as the relations of another see it. */
export interface PartnerHandle {
  readonly channel: HandleChannel;
  readonly settings: CollectionSettings;
  /** `undefined` while its code loads. */
  readonly loaded: object | undefined;
  load(): Promise<unknown>;
  readonly code:
    | {
        readonly given: {
          readonly relations: RelationOptions | undefined;
          readonly partnerOf: PartnerOf;
        };
      }
    | undefined;
}

/** Opens a collection of the same client; `false` for one of another. */
export type PartnerOf = (collection: object) => PartnerHandle | false;

export interface RelatedCollection {
  readonly name: string;
  readonly relations: RelationOptions;
  readonly partnerOf: PartnerOf;
}

type Fields = Readonly<Record<string, unknown>>;

/** Includes inside of includes. */
const MOST_LEVELS = 5;

/** How criteria ask for partners. */
const CONDITIONS: readonly string[] = ['$some', '$none', '$every'];

const LOGIC: readonly string[] = ['$and', '$or', '$nor'];

const { sort, skip, limit, select, archived } = findChecks;
const anything: Check = { allowed: '', test: () => true };
const oneChecks = { where: anything, sort, select, archived, include: anything };
const manyChecks = { ...oneChecks, skip, limit };

/** Where the partners of each document begin among those of all, and where the last ones end. */
export function startsOf(counts: Uint32Array): Uint32Array {
  const starts = new Uint32Array(counts.length + 1);
  for (const [at, count] of counts.entries()) starts[at + 1] = (starts[at] as number) + count;
  return starts;
}

/** How many stages of a pipeline only match: they look at documents of its collection. */
function matchesIn(pipeline: readonly unknown[]): number {
  const end = pipeline.findIndex((stage) => !isPlainObject(stage) || !('$match' in stage));
  return end < 0 ? pipeline.length : end;
}

/** Whether criteria name a relation, or the stages with which a pipeline begins. */
export function hasRelated(criteria: unknown, relations: RelationOptions): boolean {
  if (Array.isArray(criteria))
    return criteria
      .slice(0, matchesIn(criteria))
      .some(({ $match }) => hasRelated($match, relations));
  if (!isPlainObject(criteria)) return false;
  return Object.entries(criteria).some(([key, value]) =>
    LOGIC.includes(key)
      ? Array.isArray(value) && value.some((each) => hasRelated(each, relations))
      : isCondition(key, value, relations),
  );
}

/** Criteria without what names relations: where positions in arrays count, they still decide. */
export function plainOf(criteria: object, { relations }: RelatedCollection): object {
  const plain = Object.entries(criteria).filter(
    ([key, value]) => !hasRelated({ [key]: value }, relations),
  );
  return Object.fromEntries(plain);
}

function isCondition(key: string, value: unknown, relations: RelationOptions): value is Fields {
  return (
    Object.hasOwn(relations, key) &&
    isPlainObject(value) &&
    Object.keys(value).some((name) => CONDITIONS.includes(name))
  );
}

/** The relations that one call names, with the handles of their partners. */
export class RelationTree {
  readonly includes: readonly IncludeAsk[];
  /** By the number of their handle. */
  readonly partners = new Map<number, PartnerHandle>();
  /** What the criteria of includes need. */
  readonly needs = new Set<PartName>();
  mayHang: true | undefined;
  readonly #related: RelatedCollection;

  /** @throws {OptionError} `relation_invalid`, `include_too_deep` …; {CriteriaError} */
  constructor(related: RelatedCollection, include: unknown, params: unknown) {
    this.#related = related;
    this.includes = include === undefined ? [] : this.#includes(related, include, 'include', 1);
    if (hasRelated(params, related.relations)) this.rewrite(params as object);
  }

  get orders(): CallOrder[] {
    return Array.from(this.partners.values(), ({ channel }) => channel.order);
  }

  /** Resolves when all partners can be read; `undefined` where they can be at once. */
  get waiting(): Promise<unknown> | undefined {
    const waiting: Promise<unknown>[] = [];
    for (const partner of this.partners.values()) {
      const { order } = partner.channel;
      if (!partner.loaded) waiting.push(partner.load());
      // Behind its earlier calls.
      if (order.busy) waiting.push(order.enter(async () => undefined));
    }
    return waiting[0] && Promise.all(waiting);
  }

  /** Criteria, or a pipeline, with the conditions on partners as the engine reads them. */
  rewrite(criteria: object): object {
    if (!Array.isArray(criteria)) return this.#rewrite(this.#related, criteria, '');
    const end = matchesIn(criteria);
    return criteria.map((stage, at) =>
      at < end && isPlainObject(stage.$match)
        ? {
            ...stage,
            $match: this.#rewrite(this.#related, stage.$match, `pipeline[${at}].$match`),
          }
        : stage,
    );
  }

  /**
   * What a request asks besides; after its criteria were rewritten, which may name partners.
   *
   * @param given What it needs without partners.
   */
  asking(
    { needs = [], mayHang, related }: RequestFlags,
    parts: readonly PartName[],
  ): RequestFlags & { readonly related: RelatedAsk } {
    const partners = [...this.partners.keys(), ...(related?.partners ?? [])];
    return {
      related: { include: this.includes, partners },
      needs: [...new Set([...needs, ...this.needs, ...parts])],
      mayHang: mayHang ?? this.mayHang,
    };
  }

  #rewrite(owner: RelatedCollection, criteria: object, place: string): object {
    const plain: Record<string, unknown> = {};
    const conditions: object[] = [];
    for (const [key, value] of Object.entries(criteria)) {
      const at = placeBelow(place, key);
      if (key === '$related') throw operatorUnknown(at, key, LOGIC, undefined);
      if (isCondition(key, value, owner.relations))
        conditions.push(...this.#conditions(owner, key, value, at));
      else if (LOGIC.includes(key) && Array.isArray(value))
        plain[key] = value.map((each, index) =>
          isPlainObject(each) ? this.#rewrite(owner, each, `${at}[${index}]`) : each,
        );
      else plain[key] = value;
    }
    if (conditions.length === 0) return plain;
    return { $and: Object.keys(plain).length > 0 ? [plain, ...conditions] : conditions };
  }

  #conditions(owner: RelatedCollection, name: string, given: Fields, place: string): object[] {
    const [link, partner] = this.#link(owner, name, place);
    return Object.entries(given).map(([kind, operand]) => {
      const at = `${place}.${kind}`;
      if (!CONDITIONS.includes(kind)) throw operatorUnknown(at, kind, CONDITIONS, undefined);
      if (!isPlainObject(operand)) throw operandInvalid(at, 'criteria of the partners', operand);
      const own = this.#rewrite(partner, operand, at);
      const criteria = kind === '$every' ? { $nor: [own] } : own;
      return { $related: { ...link, isNone: kind !== '$some', criteria } };
    });
  }

  #includes(owner: RelatedCollection, given: unknown, place: string, level: number): IncludeAsk[] {
    if (!isPlainObject(given))
      throw invalid(
        place,
        `"${place}" must be an object: a relation by name, true or its options.`,
      );
    return Object.entries(given).flatMap(([name, options]) => {
      if (options === undefined || options === false) return [];
      const at = `${place}.${name}`;
      if (level > MOST_LEVELS)
        throw new OptionError(
          'include_too_deep',
          `"${at}" is on level ${level}; an include reaches ${MOST_LEVELS} levels. Read the rest by a call of its own.`,
          { place: at },
        );
      return this.#include(owner, name, options, at, level);
    });
  }

  #include(
    owner: RelatedCollection,
    name: string,
    options: unknown,
    place: string,
    level: number,
  ): IncludeAsk {
    const [link, partner, isOne] = this.#link(owner, name, place);
    const given = checkOptions(
      options === true ? {} : options,
      isOne ? oneChecks : manyChecks,
      place,
    );
    const { where = {}, select: selected, include } = given;
    if (!isPlainObject(where))
      throw new CriteriaError('criteria_invalid', `"${place}.where" must be criteria.`, { place });
    const criteria = this.#noted(copied(where, `${place}.where`), `${place}.where`) as object;
    const choice = this.#noted(copied(selected, `${place}.select`), `${place}.select`);
    if (isPlainObject(choice)) this.needs.add('expressions');
    return {
      ...link,
      isOne,
      criteria: this.#rewrite(partner, criteria, `${place}.where`),
      archived: (given.archived as IncludeAsk['archived'] | undefined) ?? false,
      sort: orderOf(copied(given.sort, `${place}.sort`) as object | undefined),
      skip: given.skip as number | undefined,
      limit: given.limit as number | undefined,
      select: choice as object | undefined,
      include:
        include === undefined
          ? []
          : this.#includes(partner, include, `${place}.include`, level + 1),
    };
  }

  #noted(criteria: unknown, place: string): unknown {
    const { mayHang, needs } = checkCriteria(criteria, place);
    this.mayHang ??= mayHang;
    for (const part of needs ?? []) this.needs.add(part);
    return criteria;
  }

  #link(
    owner: RelatedCollection,
    name: string,
    place: string,
  ): [Link, RelatedCollection, isOne: boolean] {
    const relation = Object.hasOwn(owner.relations, name) ? owner.relations[name] : undefined;
    if (!relation) throw unknown(owner, name, place);
    const { one, many, from = '_id', to = '_id' } = relation;
    const handle = this.#open(owner, name, (one ?? many) as () => unknown);
    const partner = handle.channel.handle;
    this.partners.set(partner, handle);
    const { given } = handle.code ?? {};
    const related = {
      name: handle.settings.name,
      relations: given?.relations ?? {},
      partnerOf: given?.partnerOf ?? owner.partnerOf,
    };
    return [{ partner, name, from, to }, related, one !== undefined];
  }

  #open(owner: RelatedCollection, name: string, find: () => unknown): PartnerHandle {
    let collection: unknown;
    let handle: PartnerHandle | false | undefined;
    try {
      collection = find();
      handle = isObject(collection) && owner.partnerOf(collection);
    } catch (cause) {
      throw refused(owner, name, `its function failed (${reasonOf(cause)})`, cause);
    }
    if (!handle)
      throw refused(
        owner,
        name,
        isObject(collection) && 'name' in collection
          ? `collection "${collection.name}" belongs to another database or connection`
          : 'its function must return a collection',
      );
    if (handle.settings.type === 'DOCUMENT_BASED') return handle;
    throw refused(owner, name, `collection "${handle.settings.name}" is KEY_VALUE_BASED`);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** `{}` means no order. */
function orderOf(given: object | undefined): object | undefined {
  return given && Object.keys(given).length > 0 ? given : undefined;
}

function copied(value: unknown, place: string): unknown {
  try {
    return capture(value, place, true).copy;
  } catch (cause) {
    throw new CriteriaError('criteria_invalid', (cause as Error).message, { place, cause });
  }
}

/** @throws {OptionError} `relation_invalid`, with the place of the first that is wrong. */
export function checkRelations(owner: RelatedCollection): void {
  for (const [name, relation] of Object.entries(owner.relations)) {
    const { one, many, from = '_id', to = '_id', ...others } = Object(relation) as RelationOption;
    const refuse = (why: string) => refused(owner, name, why, undefined, `relations.${name}`);
    const isField = name !== '' && !/^\$|\./.test(name) && !MANAGED_FIELDS.has(name);
    if (!isField) throw refuse('its name must be one of a field');
    const [unknown] = Object.keys(others);
    if (unknown) throw refuse(`"${unknown}" is none of one, many, from and to`);
    if (typeof (one ?? many) !== 'function' || (one && many))
      throw refuse('it needs one or many: a function that returns a collection');
    for (const path of [from, to])
      if (typeof path !== 'string' || path.split('.').some((part) => !part || part === '__proto__'))
        throw refuse(`"${String(path)}" is no path such as "customer_id"`);
  }
}

function refused(
  { name: owner }: RelatedCollection,
  name: string,
  why: string,
  cause?: unknown,
  place = name,
): OptionError {
  return invalid(place, `Relation "${name}" of collection "${owner}": ${why}.`, cause);
}

function unknown(
  { name: owner, relations }: RelatedCollection,
  name: string,
  place: string,
): OptionError {
  const near = nearestName(name, Object.keys(relations));
  const hint = near ? `did you mean "${near}"?` : 'declare it in the option relations.';
  return invalid(place, `Collection "${owner}" has no relation "${name}": ${hint}`);
}

function invalid(place: string, message: string, cause?: unknown): OptionError {
  return new OptionError('relation_invalid', message, { place, cause });
}
