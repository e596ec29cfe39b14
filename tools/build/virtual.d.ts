declare module 'virtual:worker-script' {
  /** `worker/index.ts`, bundled to one classic script. */
  const script: string;
  export default script;
}

declare module 'virtual:file-worker-script' {
  /** `worker/file-worker.ts`, bundled to one classic script. */
  const script: string;
  export default script;
}
