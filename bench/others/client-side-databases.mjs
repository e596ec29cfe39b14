/**
 * Adds implementations with Cairn to a checkout of client-side-databases: `cairn`, which waits as
 * long as an insert lasts, `cairn-saved`, which also waits until each message is stored, and
 * `cairn-thread`, whose engine runs in the page. The files around them are those of its
 * `watermelondb`, which has no server either. Mends its RxDB, which says that it has data before it
 * has looked, so that no example data are added.
 *
 *     node ../cairndb/bench/others/client-side-databases.mjs    # in the checkout
 */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

const OPEN = `connect({
    name: 'chat',
    worker: () => new Worker('/whole-worker.js', { type: 'module' }),
  })`;

const LOGIC = `import { NgZone, inject } from '@angular/core';
import { type LiveQuery, connect } from 'cairndb';
import { Observable, combineLatest } from 'rxjs';
import { filter, map, shareReplay, switchMap } from 'rxjs/operators';
import type { LogicInterface } from '../../../../src/app/logic-interface.interface';
import type {
  AddMessage, Message, Search, User, UserPair, UserWithLastMessage,
} from '../../../../src/shared/types';
import { sortByNewestFirst } from 'src/shared/util-server';

const pairOf = ({ user1, user2 }: UserPair) => ({
  $or: [
    { sender: user1.id, reciever: user2.id },
    { sender: user2.id, reciever: user1.id },
  ],
});

export class Logic implements LogicInterface {
  private readonly zone = inject(NgZone);
  private readonly db = ${OPEN};
  private readonly users = new this.db.Collection<User>({
    name: 'users',
    type: 'DOCUMENT_BASED',
  });
  private readonly messages = new this.db.Collection<Message>({
    name: 'messages',
    type: 'DOCUMENT_BASED',
    indexes: ['createdAt'],
  });

  getUserByName(userName$: Observable<string>): Observable<User> {
    return userName$.pipe(
      switchMap((name) => this.results(this.users.liveDocument(name))),
      filter((user): user is NonNullable<typeof user> => user !== undefined),
    );
  }

  getSearchResults(search$: Observable<Search>): Observable<UserWithLastMessage[]> {
    return search$.pipe(
      switchMap(({ ownUser, searchTerm }) =>
        this.results(
          this.messages.live({
            text: { $regex: searchTerm, $options: 'i' },
            $or: [{ sender: ownUser.id }, { reciever: ownUser.id }],
          }),
        ).pipe(
          switchMap(async (found) => {
            const other = (of: Message) => (of.sender === ownUser.id ? of.reciever : of.sender);
            const users = await this.users.getMany([...new Set(found.map(other))]);
            const byId = new Map(users.map((user) => [user?.id, user]));
            return found.map((message) => ({ user: byId.get(other(message)) as User, message }));
          }),
        ),
      ),
    );
  }

  getUsersWithLastMessages(ownUser$: Observable<User>): Observable<UserWithLastMessage[]> {
    return ownUser$.pipe(
      switchMap((user1) =>
        this.results(this.users.live({ _id: { $ne: user1.id } })).pipe(
          switchMap((others) =>
            combineLatest(
              others.map((user) =>
                this.results(
                  this.messages.live(pairOf({ user1, user2: user }), {
                    sort: { createdAt: -1 },
                    limit: 1,
                  }),
                ).pipe(map(([message]) => ({ user, message }))),
              ),
            ),
          ),
        ),
      ),
      map((list) => sortByNewestFirst(list)),
    );
  }

  getMessagesForUserPair(userPair$: Observable<UserPair>): Observable<Message[]> {
    return userPair$.pipe(
      switchMap((pair) => this.results(this.messages.live(pairOf(pair), { sort: { createdAt: 1 } }))),
      map((list) => [...list]),
      shareReplay(),
    );
  }

  async addMessage({ message }: AddMessage): Promise<void> {
    await this.messages.insert({ _id: message.id, ...message });
  }

  async addUser(user: User): Promise<void> {
    await this.users.insert({ _id: user.id, ...user });
  }

  async hasData(): Promise<boolean> {
    return this.users.has({});
  }

  /** Listeners run in no zone: Angular 17 would not notice them. */
  private results<Data>(live: LiveQuery<Data>): Observable<Data> {
    return new Observable((observer) =>
      live.subscribe(({ status, data, error }) =>
        this.zone.run(() => {
          if (status === 'ready') observer.next(data as Data);
          if (status === 'error') observer.error(error);
        }),
      ),
    );
  }
}
`;

const INSERT = 'await this.messages.insert({ _id: message.id, ...message });';
const angular = JSON.parse(readFileSync('angular.json', 'utf8'));
const LOGICS = {
  cairn: LOGIC,
  'cairn-saved': LOGIC.replace(INSERT, `${INSERT}\n    await this.messages.save();`),
  'cairn-thread': LOGIC.replace('connect }', 'Database }').replace(
    OPEN,
    "new Database({ name: 'chat' })",
  ),
};
for (const [name, logic] of Object.entries(LOGICS)) {
  const folder = `projects/${name}`;
  cpSync('projects/watermelondb', folder, { recursive: true });
  for (const gone of ['models.ts', 'schema.ts', 'services']) {
    rmSync(`${folder}/src/app/${gone}`, { recursive: true });
  }
  writeFileSync(`${folder}/src/app/app.logic.ts`, logic);
  const project = JSON.parse(
    JSON.stringify(angular.projects.watermelondb).replaceAll('watermelondb', name),
  );
  // Angular's webpack makes no worker of a package's.
  const input = 'node_modules/cairndb/dist';
  project.architect.build.options.assets.push({ glob: 'whole-worker.js', input, output: '/' });
  angular.projects[name] = project;
}
const rxdb = 'projects/rxdb-base/src/app/app.logic.ts';
const UNREAD = 'const result = this.db';
writeFileSync(rxdb, readFileSync(rxdb, 'utf8').replace(UNREAD, UNREAD.replace('=', '= await')));
writeFileSync('angular.json', `${JSON.stringify(angular, null, 2)}\n`);
