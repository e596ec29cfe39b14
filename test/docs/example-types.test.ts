import { dirname } from 'node:path';
import { compile } from 'svelte/compiler';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { compileScript, compileTemplate, parse } from 'vue/compiler-sfc';
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

test('no example declares anew what its page defines: it would hide a call that does not fit', () => {
  const again = examples.flatMap(({ page, code }) =>
    [...code.matchAll(/^declare function \w+/gm)].flatMap(([line]) => {
      const definition = new RegExp(`^export (async )?${line.slice('declare '.length)}\\b`, 'm');
      const isDefined = examples.some((each) => each.page === page && definition.test(each.code));
      return isDefined ? [`${page}: ${line}`] : [];
    }),
  );
  expect(again).toEqual([]);
});

const components = (language: string) =>
  examples
    .filter((example) => example.language === language)
    .map((example) => [placeOf(example, 0), example.code] as const);

test.each(components('svelte'))('the Svelte component at %s compiles', (place, code) => {
  expect(compile(code, { filename: `${place}.svelte` }).warnings).toEqual([]);
});

test.each(components('vue'))('the Vue component at %s compiles', (id, source) => {
  const { descriptor, errors } = parse(source);
  const script = compileScript(descriptor, { id });
  const template = compileTemplate({
    id,
    filename: id,
    source: descriptor.template?.content ?? '',
    compilerOptions: { bindingMetadata: script.bindings ?? {}, expressionPlugins: ['typescript'] },
  });
  expect([...errors, ...template.errors]).toEqual([]);
});

/** Compiler errors of the examples, each compiled as its own module; the files of an app may import each other. */
function typeErrors(): { place: string; message: string }[] {
  const files = new Map(examples.map((example, index) => [fileOf(example, index), example]));
  const folders = new Set([...files.keys()].map((file) => dirname(file)));
  const options = compilerOptions();
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile, directoryExists } = host;
  const codeOf = (file: string) => {
    const example = files.get(file);
    return example && scriptOf(example);
  };
  host.fileExists = (file) => files.has(file) || fileExists(file);
  host.directoryExists = (folder) => folders.has(folder) || (directoryExists?.(folder) ?? true);
  host.readFile = (file) => codeOf(file) ?? readFile(file);
  host.getSourceFile = (file, target) => {
    const code = codeOf(file);
    return code === undefined
      ? getSourceFile(file, target)
      : ts.createSourceFile(file, code, target);
  };
  const globals = ['test/docs/example-globals.d.ts', 'bench/page/peers/untyped.d.ts'];
  const given = globals.map((file) => ROOT + file);
  const program = ts.createProgram([...given, ...files.keys()], options, host);
  return [...files].flatMap(([file, example]) =>
    ts.getPreEmitDiagnostics(program, program.getSourceFile(file)).map((diagnostic) => ({
      place: placeOf(example, lineOf(diagnostic)),
      message: ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'),
    })),
  );
}

/** The name under which the compiler sees an example. */
function fileOf({ page, file, language }: Example, index: number): string {
  const extension = language === 'ts' || language === 'tsx' ? '' : '.ts';
  return file
    ? `${ROOT}test/docs/${page.replaceAll(/\W/g, '-')}/${file}${extension}`
    : `${ROOT}test/docs/example-${index}.${extension ? 'ts' : language}`;
}

/** The TypeScript of an example, each line where it is in the example: of a component, its script. */
function scriptOf({ language, code }: Example): string {
  if (language === 'ts' || language === 'tsx') return code;
  const component = /<script[^>]*>(.*?)<\/script>/s.exec(code);
  if (!component) return '';
  const { 1: script = '', index } = component;
  return '\n'.repeat(code.slice(0, index).split('\n').length - 1) + script;
}

/** The options of the project; an example may have unused names, and its components are React's. */
function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ROOT);
  return {
    ...options,
    paths: { ...options.paths, 'cairndb/static': ['./src/index.ts'] },
    types: ['node', 'svelte', 'vite/client'],
    jsx: ts.JsxEmit.Preserve,
    jsxImportSource: 'react',
    noUnusedLocals: false,
    noUnusedParameters: false,
  };
}

function lineOf({ file, start = 0 }: ts.Diagnostic): number {
  return file?.getLineAndCharacterOfPosition(start).line ?? 0;
}

function placeOf({ page, line }: Example, index: number): string {
  return `${page}:${line + index}`;
}
