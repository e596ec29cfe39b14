import type { Answer } from './query.ts';

type Query = Pick<Answer, 'table' | 'text' | 'sort' | 'stages' | 'indexes'>;

/** The query of the panel as a program of its own, to copy into an app. */
export function codeOf({ table, text, sort, stages, indexes }: Query): string {
  const name = /^[a-z]\w*$/i.test(table) ? table : 'documents';
  const method = stages === undefined ? 'filter' : 'aggregate';
  const options = `{ ${sort && `sort: { ${quoted(sort)}: -1 }, `}limit: 50 }`;
  const rest = stages === undefined ? `, ${options}` : '';
  return `import { connect } from 'cairndb';

const db = connect({ name: 'app' });
const ${name} = new db.Collection({
  name: ${quoted(table)},
  type: 'DOCUMENT_BASED',
  indexes: [${indexes.map(quoted).join(', ')}],
});

const found = await ${name}.${method}(${text.trim() || '{}'}${rest});`;
}

const quoted = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`;
