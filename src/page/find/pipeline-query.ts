import { parseCollation } from '../../api/options/collation.ts';
import { checkOptions } from '../../api/options/option-checks.ts';
import type { PartName } from '../../protocol/parts.ts';
import type { ArchivedFilter } from '../../protocol/requests.ts';
import { unexpectedValue } from '../../query/query-errors.ts';
import { checkCriteria, type FindQuery } from './find-query.ts';
import { copied, findChecks } from './search.ts';

const { archived, collation, signal } = findChecks;

const PARTS: readonly PartName[] = ['aggregation', 'expressions'];

/** The query of a pipeline. The engine checks its stages. */
export function pipelineQuery(pipeline: unknown, options: unknown): FindQuery {
  const given = checkOptions(options ?? {}, { archived, collation, signal }, 'options');
  const copy = copied(pipeline, 'pipeline');
  if (!Array.isArray(copy))
    throw unexpectedValue('pipeline_invalid', 'pipeline', 'a list of stages', copy);
  return {
    pipeline: copy,
    selection: {
      archived: (given.archived as ArchivedFilter | undefined) ?? false,
      collation: parseCollation(given.collation, 'collation'),
      mayHang: checkCriteria(copy, 'pipeline').mayHang,
      needs: PARTS,
    },
    test: undefined,
    skip: 0,
    limit: Number.POSITIVE_INFINITY,
    select: undefined,
  };
}
