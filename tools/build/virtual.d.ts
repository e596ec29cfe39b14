declare module 'virtual:worker-script' {
  /** `worker/index.ts`, bundled to one classic script. */
  const script: string;
  export default script;
}
