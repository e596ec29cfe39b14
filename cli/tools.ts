import { toBase64 } from '../src/codec/exact-json/base64.ts';
import { type Binary, encodeExactTree, TooLong } from '../src/codec/exact-json/exact-encoding.ts';
import {
  type CairnError,
  type Database,
  type DocumentCollection,
  type KeyValueCollection,
  OptionError,
} from '../src/index.ts';
import type { Storage } from '../src/storage/drivers/driver.ts';

/** A tool of the protocol, and what it does. */
export interface Tool {
  readonly description: string;
  readonly inputSchema: {
    readonly type: 'object';
    readonly properties: object;
    readonly required?: readonly string[];
  };
  run(given: Readonly<Record<string, unknown>>): Promise<unknown>;
}

/** Documents of an answer, if nothing else is given. */
const LIMIT = 20;
const MOST = 1000;
/** Characters of an answer: it has to fit into the memory of a model. */
const LONGEST = 400_000;

const text = { type: 'string' };
const object = { type: 'object' };
const collection = { ...text, description: 'The name of the collection' };
const criteria = {
  ...object,
  description:
    'MongoDB criteria, such as { "age": { "$gte": 18 } }. A date is { "$date": "2026-01-31" }',
};
const sort = { ...object, description: 'Such as { "name": 1, "age": -1 }' };
const pipeline = { type: 'array', items: object, description: 'Stages of a MongoDB pipeline' };

/** What an agent can do with a database. Nothing of it changes a document. */
export function toolsOf(db: Database, stored: () => Promise<Storage>): Record<string, Tool> {
  const open = async (name: unknown, indexes?: unknown) => {
    const known = await db.collections();
    const info = known.find((one) => one.name === name);
    if (!info) {
      const names = known.map((one) => `"${one.name}"`).join(', ') || 'none';
      throw invalid(`There is no collection "${String(name)}", but ${names}.`);
    }
    const [manifest] = await (await stored()).getMany('collections', [[info.name]]);
    const { version } = (manifest ?? {}) as { version?: number };
    const options = { name: info.name, type: info.type, version, indexes };
    return new db.Collection(options as never) as DocumentCollection | KeyValueCollection;
  };
  const documents = async (name: unknown, indexes?: unknown) => {
    const opened = await open(name, indexes);
    if (opened.type === 'DOCUMENT_BASED') return opened as DocumentCollection;
    throw invalid(`"${opened.name}" has keys and values: read it by query, without criteria.`);
  };
  const optionsOf = (given: Readonly<Record<string, unknown>>, names: readonly string[]) =>
    Object.fromEntries(
      names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])),
    );

  return {
    list_collections: {
      description: 'Lists the collections of the database: names, types, documents, bytes.',
      inputSchema: { type: 'object', properties: {} },
      run: () => db.collections(),
    },
    query: {
      description: `Finds documents by criteria, ${LIMIT} if no limit is given; or entries of a key-value collection.`,
      inputSchema: {
        ...{ type: 'object', required: ['collection'] },
        properties: {
          ...{ collection, criteria, sort },
          skip: { type: 'integer', minimum: 0 },
          limit: { type: 'integer', minimum: 1, maximum: MOST, default: LIMIT },
          select: { type: 'array', items: text, description: 'Paths of fields to return' },
          archived: { type: 'boolean', description: 'Archived documents as well' },
        },
      },
      async run(given) {
        const limit = Math.min(Number(given.limit ?? LIMIT), MOST);
        const opened = await open(given.collection);
        if (opened.type === 'KEY_VALUE_BASED') {
          const isGiven = (option: string) => Object.keys(given[option] ?? {}).length > 0;
          const other = ['criteria', 'sort', 'select'].find(isGiven);
          if (other)
            throw invalid(
              `"${opened.name}" has keys and values: "${other}" is for documents.`,
              other,
            );
          const skip = Number(given.skip ?? 0);
          for (const [name, value] of Object.entries({ skip, limit }))
            if (!Number.isInteger(value) || value < 0)
              throw invalid(`"${name}" must be a whole number, 0 or more, not ${value}.`, name);
          const entries = await (opened as KeyValueCollection).entries();
          return entries.slice(skip, skip + limit);
        }
        const options = optionsOf(given, ['sort', 'skip', 'select', 'archived']);
        const asked = { ...options, limit };
        return (opened as DocumentCollection).filter(given.criteria ?? {}, asked as never);
      },
    },
    aggregate: {
      description: 'Runs a MongoDB pipeline over a collection: groups, sums, joins.',
      inputSchema: {
        ...{ type: 'object', required: ['collection', 'pipeline'] },
        properties: { collection, pipeline },
      },
      run: async (given) => (await documents(given.collection)).aggregate(given.pipeline as never),
    },
    explain: {
      description:
        'Tells how criteria or a pipeline are answered: index, keys and documents examined. An app declares its indexes in code: give them, or others to try.',
      inputSchema: {
        ...{ type: 'object', required: ['collection'] },
        properties: {
          ...{ collection, criteria, pipeline, sort },
          indexes: { type: 'array', description: 'Such as ["age", { "fields": ["a", "b"] }]' },
        },
      },
      async run(given) {
        const one = await documents(given.collection, given.indexes ?? []);
        return one.explain(
          (given.pipeline ?? given.criteria ?? {}) as object,
          optionsOf(given, given.pipeline ? [] : ['sort']) as never,
        );
      },
    },
  };
}

function invalid(message: string, place = 'collection'): OptionError {
  return new OptionError('option_invalid', message, { place });
}

/** Calls a tool. An error is a result that the agent reads. */
export async function callTool(tool: Tool, given: object): Promise<object> {
  try {
    checkNames(tool, given);
    return { content: [{ type: 'text', text: textOf(await tool.run(withDates(given))) }] };
  } catch (error) {
    const { code, message } = error as Partial<CairnError>;
    const said =
      error instanceof TooLong ? 'The answer is too long: give a limit, or select.' : message;
    return { isError: true, content: [{ type: 'text', text: code ? `${code}: ${said}` : said }] };
  }
}

/** An agent that calls criteria `filter` would take all documents for its answer. */
function checkNames({ inputSchema: { properties } }: Tool, given: object): void {
  const known = Object.keys(properties);
  const other = Object.keys(given).find((name) => !known.includes(name));
  if (other === undefined) return;
  const names = known.map((name) => `"${name}"`).join(', ') || 'nothing';
  throw invalid(`There is no argument "${other}": the tool takes ${names}.`, other);
}

/** As JSON; what JSON lacks is an object such as `{ "$date": 0 }`. */
function textOf(result: unknown): string {
  const bytes = (binary: Binary) =>
    binary instanceof Uint8Array ? toBase64(binary) : `a Blob of ${binary.size} bytes`;
  return JSON.stringify(encodeExactTree(result, LONGEST, bytes));
}

/** Arguments are JSON: `{ $date }` is a date. */
function withDates(given: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(given), (_, value) => {
    const { $date: written } = Object(value);
    if (written === undefined || Object.keys(value).length !== 1) return value;
    const date = new Date(written);
    if (written !== null && !Number.isNaN(date.getTime())) return date;
    throw invalid(`"${written}" is no date: write { "$date": "2026-01-31" }.`, '$date');
  });
}
