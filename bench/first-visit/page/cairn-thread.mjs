import { Database } from 'cairndb';
import { cairnApp } from './cairn-app.mjs';
import { visit } from './people.mjs';

visit(cairnApp(new Database({ name: 'first-visit-thread' })));
