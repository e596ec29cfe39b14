import type { FileRecord } from '../../../src/backup/file/file-contents.ts';

const around = { flags: 0, stamps: undefined };

/** The content of {@link FILE_1}: each kind of value. */
export const RECORDS_1: readonly FileRecord[] = [
  {
    key: 'json',
    order: 1,
    flags: 3,
    stamps: [1, 2, 3, 4.5],
    body: '{"name":"Ada \\ud800","n":[1,null]}',
  },
  {
    ...around,
    key: 'é\ud800',
    order: 2 ** 53 - 1,
    body: {
      exact: {
        undefined: undefined,
        numbers: [Number.NaN, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
        bigints: [0n, -(2n ** 70n)],
        dates: [new Date(-1), new Date(Number.NaN)],
        pattern: /a\/[b]+/giu,
        map: new Map<unknown, unknown>([[{ key: [1] }, new Map()]]),
        set: new Set(['a', -0]),
        // biome-ignore lint/suspicious/noSparseArray: a hole is a kind of value
        holes: [1, , undefined, 'x'],
        like: { $date: 0 },
        lone: '\udc00',
      },
    },
  },
  {
    ...around,
    key: 'binary',
    order: 3,
    body: {
      exact: {
        buffer: Uint8Array.of(1, 2, 3).buffer,
        views: [
          Int8Array.of(-1),
          new Uint8Array(),
          Uint8ClampedArray.of(255),
          Int16Array.of(-2),
          Uint16Array.of(2),
          Int32Array.of(-3),
          Uint32Array.of(3),
          Float32Array.of(0.5),
          Float64Array.of(0.1),
          BigInt64Array.of(-4n),
          BigUint64Array.of(4n),
          new DataView(Uint8Array.of(9, 8).buffer),
        ],
        blob: new Blob(['hello'], { type: 'text/plain' }),
        file: new File(['content'], 'name.txt', { type: 'text/plain', lastModified: 77 }),
      },
    },
  },
];

/** A file written by version 0.1.0, in base64. Do not regenerate it. */
export const FILE_1 = [
  'H4sIAAAAAAAAA61WbW+jOBD+vr+iGuXbuY0h5AWk/UBftop2t7er21baS6PKgKHegkFg2kQVP+h+x/2x0xiSOKSpTr',
  'ozH7A9zzOeGXvGfoU4LzOmwIOQiVKeBix8qgsg3fyDrLOAl+BZBJ55WYlcggf0zDqjQCDM05SHqp2sK15WQECtCw4e',
  'XP5+cfv16ubHw7n/x9UlgkvOFI8ecDFr6tJtI5CygKfgQcDjvOQn6pGfqFKgFXmB2ivwXkHIiK94Bd4CeMZECsuGQJ',
  'SHdcalqsAbNR9e4YmvwYNfVS6RXEad6XHKEoQQqBTLClRiEZuMiHM2XhII8miNS0iWoel+xE7u62hG0UepsbJO02Wz',
  'W+Hvv7aAbhWX0qnluvbYmTrUdXeLUgJ8xUKFC9Qy4rGQPMLBwBipsuYNgTbaaN4rDDahhxt2Aw0xZ05pb2IuYyGFWv',
  'dxu3l0UyRChwq1twPczJazHZ86tN80O2KKd1zsgndqaWI7wAAhqmBK8VJq/0qe8FWB3SqvyxBDy+7vh4tg+RtswwOJ',
  'qKFpCGRMQwf6v1h0kV5YS71KO7tslrjrFdfRHOj/AhgQitOPecqrVlCwsuLYTblM1CN4DgGheKbFVJ8J+8gejMCDFT',
  'RoUiqetJJBkTLR+tR6S7U0l+jSfR2FGCI8HEEdxxh4SiBgFZ84eJq+zy/BFFqGcPjy8eOe0DaEe4LReyzHFD7P9oVj',
  '05jE3xdOTGY8HB6onprsF9/3/R5gZgJ83//W1+AagKzI/sSv/tEz0jJDNvw27FofZcbu3N+2HsoM4sX3pJOmeQCeZc',
  'aRXd9VwfVsT26G8qft1tH1XR1tfG6TPxCSletd6o/ezPWNNZhba9UezK42+mXJ1uetnEAn1WfqWfCXTYL2SHOpZpq4',
  'o1hNm7o95K04hNrvQC9SlhU86jFGbzPmUlmTHtQ5rvwAOz6qdmT3oJPjag+w07exn9KcHYJn74AnTg/svg0+F8lcHq',
  'ItehSOdh/ij+zhJVPsTvAXA2k3uojrY4qMrtMRFF+pYVundhTcQ4hF2laxTae75vB3plYK8AKu1Nc8ErHAQjidkne1',
  'Ok2jqx2XXdXcv4fxqg9HNngwGY3dmRs4Onf+t4dGxZUSMjHeGp+vfj7c+V9ur/7NY2P3pNh/P9DjLtGdS9Sygtix2X',
  '92qWr90an54R+jyyYchwkAAA==',
].join('');
