import ts from 'typescript';
import { expect, test } from 'vitest';
import { type Example, ROOT, readExamples } from './pages.ts';

/** Begin of the comment at the end of an erroneous line of an example. */
const MISTAKE = '// type error';

const examples = readExamples();

test('examples compile, except lines marked as type errors', () => {
  const errors = typeErrors();
  const mistakes = examples.flatMap((example) =>
    example.code
      .split('\n')
      .flatMap((line, index) => (line.includes(MISTAKE) ? [placeOf(example, index)] : [])),
  );
  expect(examples.length).toBeGreaterThan(15);
  expect(errors.filter(({ place }) => !mistakes.includes(place))).toEqual([]);
  expect(mistakes.filter((mistake) => !errors.some(({ place }) => place === mistake))).toEqual([]);
});

/** Compiler errors of the examples, each compiled as its own module. */
function typeErrors(): { place: string; message: string }[] {
  const files = new Map(
    examples.map((example, index) => [`${ROOT}test/docs/example-${index}.ts`, example]),
  );
  const options = compilerOptions();
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.readFile = (file) => files.get(file)?.code ?? readFile(file);
  host.getSourceFile = (file, target) => {
    const code = files.get(file)?.code;
    return code === undefined
      ? getSourceFile(file, target)
      : ts.createSourceFile(file, code, target);
  };
  const globals = `${ROOT}test/docs/example-globals.d.ts`;
  const program = ts.createProgram([globals, ...files.keys()], options, host);
  return [...files].flatMap(([file, example]) =>
    ts.getPreEmitDiagnostics(program, program.getSourceFile(file)).map((diagnostic) => ({
      place: placeOf(example, lineOf(diagnostic)),
      message: ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'),
    })),
  );
}

/** The options of the project; an example may have unused names. */
function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ROOT);
  return { ...options, types: ['node'], noUnusedLocals: false, noUnusedParameters: false };
}

function lineOf({ file, start = 0 }: ts.Diagnostic): number {
  return file?.getLineAndCharacterOfPosition(start).line ?? 0;
}

function placeOf({ page, line }: Example, index: number): string {
  return `${page}:${line + index}`;
}
