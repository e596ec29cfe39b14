declare module '*.sql' {
  /** The text of the file; the build puts it into the bundle. */
  const text: string;
  export default text;
}
