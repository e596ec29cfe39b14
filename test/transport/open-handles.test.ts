import { expect, test } from 'vitest';
import { OpenHandles } from '../../src/page/connection/replay.ts';
import type { Request } from '../../src/protocol/requests.ts';
import { plainSettings } from '../../src/protocol/settings.ts';

const settings = () => plainSettings('things', 'DOCUMENT_BASED');
const open = (handle: number): Request => ({ op: 'open', handle, settings: settings() });

test('a handle that nobody has goes to the next with its settings, once', () => {
  const handles = new OpenHandles();
  handles.number([open(1), open(2)]);
  handles.free(2);
  expect(handles.take(plainSettings('others', 'DOCUMENT_BASED'))).toBeUndefined();
  expect(handles.take({ ...settings(), version: 2 })).toBeUndefined();
  expect(handles.take(settings())).toBe(2);
  expect(handles.take(settings())).toBeUndefined();
});

test('it stays open meanwhile: an engine that replays its changes needs it', () => {
  const handles = new OpenHandles();
  handles.number([open(1)]);
  handles.free(1);
  expect(handles.all()).toEqual([[1, settings()]]);
});

test('one of a collection that was dropped goes to nobody', () => {
  const handles = new OpenHandles();
  handles.number([open(1), open(2), open(3)]);
  handles.free(2);
  handles.forget(2);
  handles.forget(3);
  handles.free(3);
  expect(handles.take(settings())).toBeUndefined();
  expect(handles.all()).toEqual([[1, settings()]]);
});

test('one that is opened again before its client heard of the drop belongs to the new collection', () => {
  const handles = new OpenHandles();
  handles.number([open(1), open(2)]);
  handles.free(2);
  const again = [open(handles.take(settings()) as number)];
  handles.number(again);
  handles.forget(2);
  handles.noteOpens(again);
  expect(handles.all()).toEqual([
    [1, settings()],
    [2, settings()],
  ]);
});

test('until it is open again, what is replayed through it is of the collection before', () => {
  const handles = new OpenHandles();
  const first = [open(1)];
  handles.number(first);
  handles.noteOpens(first, [1]);
  handles.free(1);
  const again = [open(handles.take(settings()) as number)];
  handles.number(again);
  expect(handles.all()).toEqual([[1, { ...settings(), born: 1 }]]);
  handles.noteOpens(again, [2]);
  expect(handles.all()).toEqual([[1, { ...settings(), born: 2 }]]);
});
