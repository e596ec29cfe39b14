import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compile } from 'svelte/compiler';
import { expect, test } from 'vitest';
import { compileScript, compileTemplate, parse } from 'vue/compiler-sfc';
import { run } from '../package/tarball.ts';
import { type Example, ROOT, readExamples, readText } from './pages.ts';

/** Begin of the comment at the end of an erroneous line of an example. */
const MISTAKE = '// type error';

const examples = readExamples();

test('examples compile, except lines marked as type errors', async () => {
  const errors = await typeErrors();
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

/**
 * Compiler errors of the examples, each compiled as its own module; the files of an app may import
 * each other.
 */
async function typeErrors(): Promise<{ place: string; message: string }[]> {
  mkdirSync(`${ROOT}test-results`, { recursive: true });
  // Within the repository: packages resolve as in its own files.
  const folder = mkdtempSync(`${ROOT}test-results/examples-`);
  try {
    const files = new Map(examples.map((example, index) => [fileOf(example, index), example]));
    for (const [file, example] of files) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), scriptOf(example));
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(projectOf([...files.keys()])));
    return (await compileProject(folder)).flatMap((line) => {
      const [, file = '', row, message = ''] = /^(.+?)\((\d+),\d+\): error (.*)$/.exec(line) ?? [];
      const example = files.get(file);
      if (example) return [{ place: placeOf(example, Number(row) - 1), message }];
      // The further lines of a message are indented.
      return line === '' || line.startsWith(' ') ? [] : [{ place: line, message: line }];
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The lines that the compiler prints. It fails where there is an error in an example, as there is
 * meant to be.
 */
async function compileProject(folder: string): Promise<string[]> {
  const tsc = `${ROOT}node_modules/typescript7/bin/tsc`;
  const { stdout } = await run(process.execPath, [tsc, '--pretty', 'false'], folder).catch(
    (error: { stdout: string }) => error,
  );
  return stdout.split('\n');
}

/** The file of an example, in the folder of all. */
function fileOf({ page, file, language }: Example, index: number): string {
  const extension = language === 'ts' || language === 'tsx' ? '' : '.ts';
  return file
    ? `${page.replaceAll(/\W/g, '-')}/${file}${extension}`
    : `example-${index}.${extension ? 'ts' : language}`;
}

/**
 * The TypeScript of an example, each line where it is in the example: of a component, its script.
 */
function scriptOf({ language, code }: Example): string {
  if (language === 'ts' || language === 'tsx') return code;
  const component = /<script[^>]*>(.*?)<\/script>/s.exec(code);
  if (!component) return '';
  const { 1: script = '', index } = component;
  return '\n'.repeat(code.slice(0, index).split('\n').length - 1) + script;
}

/**
 * With the options of the repository; an example may have unused names, and its components are
 * React's.
 */
function projectOf(examples: readonly string[]): object {
  const globals = [
    'test/docs/example-globals.d.ts',
    'bench/page/peers/untyped.d.ts',
    // of the sources
    ...['src/server/postgres/sql.d.ts', 'tools/build/virtual.d.ts'],
  ];
  const { compilerOptions } = JSON.parse(readText('tsconfig.json'));
  const paths: Record<string, string[]> = {
    ...compilerOptions.paths,
    'cairndb/static': ['./src/index.ts'],
  };
  const inRepository = Object.entries(paths).map(([name, files]) => [
    name,
    files.map((file) => join(ROOT, file)),
  ]);
  return {
    compilerOptions: {
      ...compilerOptions,
      paths: Object.fromEntries(inRepository),
      types: ['node', 'svelte', 'vite/client'],
      jsx: 'preserve',
      jsxImportSource: 'react',
      noUnusedLocals: false,
      noUnusedParameters: false,
    },
    files: [...examples, ...globals.map((file) => ROOT + file)],
  };
}

function placeOf({ page, line }: Example, index: number): string {
  return `${page}:${line + index}`;
}
