// Counts the type instantiations that an editor computes. Unlike times, counts are equal on every
// machine.
import ts from 'typescript';
import { ROOT } from './setup.mjs';

/**
 * One and a half times what was measured with TypeScript 6.0.3: 129,300, and of three collections
 * with a schema 17,600.
 */
const BUDGETS = { 'type-cost': 194_000, 'schema-cost': 26_500 };

const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile);
const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ROOT);
for (const [name, budget] of Object.entries(BUDGETS)) {
  const file = `${ROOT}test/types/${name}.test-d.ts`;
  const program = ts.createProgram([file], options);
  const errors = program.getSemanticDiagnostics(program.getSourceFile(file));
  for (const { messageText } of errors)
    console.error(ts.flattenDiagnosticMessageText(messageText, '\n'));
  const instantiations = program.getInstantiationCount();
  console.log(`${name}: ${instantiations} instantiations, of at most ${budget}`);
  if (errors.length > 0 || instantiations > budget) process.exitCode = 1;
}
