import { ValueError } from '../../errors/errors.ts';
import { isManaged } from '../../protocol/managed.ts';
import { holdsOperators } from '../../query/criteria/operators/operator.ts';
import { checkConflicts } from '../../query/path/path-conflicts.ts';
import { setAt } from '../../query/path/value-path.ts';
import { isFields, isRegExp } from '../../query/value/value-type.ts';
import { provideUpdates } from '../documents/compile-patch.ts';
import { compileUpdate } from './compile-update.ts';

provideUpdates({ compileUpdate, describedBy });

/** What a document that criteria do not find begins with: the values that they ask for. */
interface Inserted {
  readonly id: string | undefined;
  readonly fields: object;
}

/**
 * The document that criteria describe, as MongoDB infers it for an upsert: equal values, also
 * within `$and` and an `$or` of one.
 *
 * @throws {KeyError} `paths_conflict`; {ValueError} `id_invalid`
 */
export function describedBy(criteria: object): Inserted {
  const equalities = [...equalitiesOf(criteria)];
  checkConflicts(equalities.map(([path]) => ({ path, segments: path.split('.') })));
  const id = equalities.find(([path]) => path === '_id')?.[1];
  if (id !== undefined && (typeof id !== 'string' || id === ''))
    throw new ValueError('id_invalid', 'The _id in criteria of an upsert must be a string.', {
      place: '_id',
    });
  const fields = {};
  for (const [path, value] of equalities)
    if (!isManaged(path)) setAt(fields, path.split('.'), value, path);
  return { id, fields };
}

function* equalitiesOf(criteria: object): Generator<[path: string, value: unknown]> {
  for (const [key, value] of Object.entries(criteria)) {
    const isOne = key === '$and' || (key === '$or' && value.length === 1);
    if (isOne) for (const one of value) yield* equalitiesOf(one);
    else if (!key.startsWith('$')) {
      if (isFields(value) && holdsOperators(value)) {
        if ('$eq' in value) yield [key, value.$eq];
      } else if (!isRegExp(value)) yield [key, value];
    }
  }
}
