/**
 * node test/backup-targets/servers/webdav-server.mjs FOLDER [PORT]: a real WebDAV server, over a
 * folder. It prints its port. The user is `ada`, the password `secret`.
 */
import { v2 } from 'webdav-server';

const [folder = '.', port = '0'] = process.argv.slice(2);
const users = new v2.SimpleUserManager();
const ada = users.addUser('ada', 'secret', false);
const privileges = new v2.SimplePathPrivilegeManager();
privileges.setRights(ada, '/', ['all']);
const server = new v2.WebDAVServer({
  ...{ port: Number(port), hostname: '127.0.0.1' },
  requireAuthentification: true,
  httpAuthentication: new v2.HTTPBasicAuthentication(users, 'test'),
  privilegeManager: privileges,
});
server.setFileSystem('/', new v2.PhysicalFileSystem(folder), (mounted) => {
  if (!mounted) throw new Error('The folder cannot be mounted.');
  server.start((http) => {
    // A busy machine reuses a connection in the moment in which it would be closed for being idle.
    if (http) http.keepAliveTimeout = 600_000;
    const address = /** @type {import('node:net').AddressInfo} */ (http?.address());
    console.log(address.port);
  });
});
