import type { GlobalsOfPage } from './page-globals.ts';

/** An object of the platform that a browser, a frame or a setting refuses, and how. */
export interface Refusal {
  readonly title: string;
  readonly apply: (page: GlobalsOfPage) => void;
  /** Whether nothing can be stored. */
  readonly inMemory: boolean;
}

/** What browsers call a refusal. */
const WORDS: readonly Word[] = [
  ['SecurityError', 'The operation is insecure.'],
  ['NotAllowedError', 'The request is not allowed.'],
  ['NotSupportedError', 'The operation is not supported.'],
  [
    'InvalidStateError',
    'A mutation operation was attempted on a database that did not allow mutations.',
  ],
];

type Word = readonly [name: string, message: string];

const errorOf = ([name, message]: Word) =>
  name === 'TypeError' ? new TypeError(message) : new DOMException(message, name);

/** A platform object that exists and answers each call in the same way. */
const answering = (answer: () => unknown) =>
  new Proxy(class {}, { construct: answer as () => object, get: () => answer });

/** A request of IndexedDB that fails. */
function failingRequest(error: unknown): object {
  const target = new EventTarget();
  queueMicrotask(() => target.dispatchEvent(new Event('error', { cancelable: true })));
  // Of this class, or the library that wraps it takes it for a value.
  return Object.create(IDBRequest.prototype, {
    addEventListener: { value: target.addEventListener.bind(target) },
    removeEventListener: { value: target.removeEventListener.bind(target) },
    error: { value: error },
  });
}

type Define = (page: GlobalsOfPage, property: PropertyDescriptor) => void;

const inGlobals =
  (name: string): Define =>
  (page, property) =>
    page.define(name, property);

const OBJECTS: Readonly<Record<string, Define>> = {
  indexedDB: inGlobals('indexedDB'),
  localStorage: inGlobals('localStorage'),
  BroadcastChannel: inGlobals('BroadcastChannel'),
  SharedWorker: inGlobals('SharedWorker'),
  Worker: inGlobals('Worker'),
  'navigator.locks': (page, property) => page.defineInNavigator('locks', property),
  'navigator.storage': (page, property) => page.defineInNavigator('storage', property),
  navigator: inGlobals('navigator'),
};

/** Objects whose methods return promises. */
const ASKED = ['navigator.locks', 'navigator.storage'];

function* refusalsOf(object: string, define: Define): Generator<Refusal> {
  const inMemory = object === 'indexedDB';
  const refusal = (how: string, property: PropertyDescriptor): Refusal => ({
    title: `${object} ${how}`,
    apply: (page) => define(page, property),
    inMemory,
  });
  yield refusal('is missing', { value: undefined });
  yield refusal('is null', { value: null });
  const words: Word[] = [...WORDS, ['TypeError', `${object} is refused in this context.`]];
  for (const word of ASKED.includes(object) || inMemory ? words : words.slice(0, 1)) {
    const [name, message] = word;
    const fail = () => {
      throw errorOf(word);
    };
    yield refusal(`throws when it is read: ${name}, ${message}`, { get: fail });
    yield refusal(`throws when it is called: ${name}, ${message}`, { value: answering(fail) });
    if (ASKED.includes(object))
      yield refusal(`rejects: ${name}, ${message}`, {
        value: answering(() => Promise.reject(errorOf(word))),
      });
    if (inMemory && name !== 'TypeError')
      yield refusal(`fails to open: ${name}, ${message}`, {
        value: answering(() => failingRequest(errorOf(word))),
      });
  }
}

/** Each object of the platform, refused in each way. */
export const REFUSALS: readonly Refusal[] = [
  ...Object.entries(OBJECTS).flatMap(([object, define]) => [...refusalsOf(object, define)]),
  {
    title: 'nothing but memory is allowed, as in a sandbox',
    apply: (page) => {
      for (const [object, define] of Object.entries(OBJECTS)) {
        if (object === 'navigator') continue;
        const word: Word = ['SecurityError', `Access to ${object} is denied.`];
        const fail = () => {
          throw errorOf(word);
        };
        const isRead = object === 'localStorage';
        define(page, isRead ? { get: fail } : { value: answering(fail) });
      }
    },
    inMemory: true,
  },
];
