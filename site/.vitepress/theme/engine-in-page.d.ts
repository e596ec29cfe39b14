declare module 'virtual:engine-in-page' {
  export const Database: typeof import('../../../src/index.ts').Database;
  export const memoryDriver: typeof import('../../../src/index.ts').memoryDriver;
}
