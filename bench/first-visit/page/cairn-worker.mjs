import { connect } from 'cairndb';
import { cairnApp } from './cairn-app.mjs';
import { visit } from './people.mjs';

visit(cairnApp(connect({ name: 'first-visit' })));
