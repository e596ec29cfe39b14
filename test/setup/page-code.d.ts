/** The code of a page: tools/build/page-code.ts. */
declare module '*.md?code';
