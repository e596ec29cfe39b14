import { describe, expectTypeOf, test } from 'vitest';
import { useDraft, useLiveDocument } from '../../src/bindings/react/index.ts';
import {
  type CriteriaOf,
  Database,
  type DocumentCollection,
  type Id,
  type IdOf,
  type NewDocument,
  type Stored,
} from '../../src/index.ts';

type TaskId = Id<'Task'>;

interface Task {
  _id: TaskId;
  title: string;
  project: Id<'Project'>;
  watchers: Id<'User'>[];
}

interface Project {
  _id: Id<'Project'>;
  name: string;
}

interface Plain {
  title: string;
}

const db = new Database({ name: 'types' });
const tasks = new db.Collection<Task>({
  name: 'tasks',
  type: 'DOCUMENT_BASED',
  indicate_created_at: true,
});
const projects = new db.Collection<Project>({ name: 'projects', type: 'DOCUMENT_BASED' });
const shared = new db.Collection<Task>({
  name: 'shared',
  type: 'DOCUMENT_BASED',
  shared_documents: true,
});
const plain = new db.Collection<Plain>({ name: 'plain', type: 'DOCUMENT_BASED' });
const own = new db.Collection<Plain & { _id: string }>({ name: 'own', type: 'DOCUMENT_BASED' });
const any = new db.Collection({ name: 'any', type: 'DOCUMENT_BASED' });

const [taskId, projectId] = ['t' as TaskId, 'p' as Id<'Project'>];

describe('ids of one kind', () => {
  test('come from what is stored, and go into methods', async () => {
    const task = await tasks.insert({ title: 'a', project: projectId, watchers: [] });
    expectTypeOf(task._id).toEqualTypeOf<TaskId>();
    expectTypeOf<IdOf<Task>>().toEqualTypeOf<TaskId>();
    expectTypeOf<Stored<Task, '_created_at'>['_id']>().toEqualTypeOf<TaskId>();
    expectTypeOf<NewDocument<Task>['_id']>().toEqualTypeOf<TaskId | undefined>();
    expectTypeOf(await tasks.find({ _id: taskId })).toEqualTypeOf<
      Stored<Task, '_created_at'> | undefined
    >();
    expectTypeOf((await shared.find({}))?._id).toEqualTypeOf<TaskId | undefined>();
    expectTypeOf((await tasks.find({}, { select: ['title'] }))?._id).toEqualTypeOf<
      TaskId | undefined
    >();
    await projects.get(task.project);
    await tasks.getMany([taskId, task._id]);
    await tasks.update(task._id, { ...task, title: 'b' });
    await tasks.filter({ _id: { $in: [taskId] }, project: projectId, watchers: 'u' as Id<'User'> });
    await tasks.filter({}, { after: { _id: taskId } });
    tasks.liveDocument(taskId);
    await db.transaction((tx) => tx(tasks).patch(taskId, { project: projectId }));
    useLiveDocument(tasks, taskId);
    useDraft(tasks, undefined);
    // An id is a string.
    expectTypeOf(task._id).toExtend<string>();
    expectTypeOf(task._id.length).toEqualTypeOf<number>();
  });

  test('do not mix', async () => {
    // @ts-expect-error of a project
    tasks.get(projectId);
    // @ts-expect-error of nothing
    tasks.get('t');
    // @ts-expect-error of a project
    tasks.getMany([taskId, projectId]);
    // @ts-expect-error of a project
    tasks.patch(projectId, { title: 'c' });
    // @ts-expect-error of a project
    tasks.delete(projectId);
    // @ts-expect-error of a task
    tasks.patch(taskId, { project: taskId });
    // @ts-expect-error of a task
    tasks.patch(taskId, { $set: { project: taskId } });
    // @ts-expect-error of a task
    tasks.insert({ title: 'a', project: taskId, watchers: [] });
    // @ts-expect-error of a project
    tasks.insert({ _id: projectId, title: 'a', project: projectId, watchers: [] });
    // @ts-expect-error of a project
    tasks.find({ _id: projectId });
    // @ts-expect-error of a project
    const criteria: CriteriaOf<typeof tasks> = { _id: { $in: [projectId] } };
    // @ts-expect-error of a task
    tasks.filter({ watchers: taskId });
    // @ts-expect-error of a project
    tasks.filter({}, { after: { _id: projectId } });
    // @ts-expect-error of a project
    tasks.liveDocument(projectId);
    // @ts-expect-error of a project
    db.transaction((tx) => tx(tasks).get(projectId));
    // @ts-expect-error of a project
    useLiveDocument(tasks, projectId);
    // @ts-expect-error of a project
    useDraft(tasks, projectId);
    return criteria;
  });

  test('are strings where no document type declares them', async () => {
    expectTypeOf<IdOf<Plain>>().toEqualTypeOf<string>();
    expectTypeOf<IdOf<Plain & { _id: string }>>().toEqualTypeOf<string>();
    expectTypeOf<IdOf<Plain & { _id: 'a' | 'b' }>>().toEqualTypeOf<string>();
    expectTypeOf<Stored<Plain>['_id']>().toEqualTypeOf<string>();
    plain.get(taskId);
    plain.get('a');
    own.get('a');
    any.get('a');
    expectTypeOf((await any.find({}))?._id).toEqualTypeOf<string | undefined>();
    const generic = <T extends object>(collection: DocumentCollection<T>, id: IdOf<T>) =>
      collection.get(id);
    generic(plain, 'a');
    generic(tasks, taskId);
    // @ts-expect-error of a project
    generic(tasks, projectId);
  });
});
