/** Stands in for your sessions: who sends this token is that user. */
const USERS = {
  ada: { name: 'ada', isOffice: false },
  ben: { name: 'ben', isOffice: false },
  office: { name: 'office', isOffice: true },
};

/** Who asks; `undefined`: nobody who is logged in. */
export function userOf(request) {
  const token = request.headers.get('authorization')?.replace('Bearer ', '') ?? '';
  return Object.hasOwn(USERS, token) ? USERS[token] : undefined;
}

/**
 * Who may do what: the office everything, a technician what belongs to his jobs.
 *
 * @param query The database, which says at which customers a technician has jobs.
 */
export function rightsOf(query) {
  async function customersOf({ name }) {
    const { rows } = await query(
      `select distinct body->>'customer' as customer from cairn_rows
         where collection = 'jobs' and body->>'technician' = $1`,
      [name],
    );
    return new Set(rows.map(({ customer }) => customer));
  }

  return {
    async authorize(request, collection) {
      const user = userOf(request);
      if (!user) return undefined; // 401
      const isKnown = ['customers', 'jobs', 'visits', 'stock'].includes(collection);
      if (user.isOffice || !isKnown) return isKnown;
      const isOwn = ({ technician }) => technician === user.name;
      switch (collection) {
        case 'customers':
          return { write: () => false };
        case 'jobs':
          return { read: isOwn, write: isOwn };
        case 'visits': {
          // What another technician did at the same customer is of use: to read.
          const customers = await customersOf(user);
          return { read: (visit) => isOwn(visit) || customers.has(visit.customer), write: isOwn };
        }
        default:
          return true;
      }
    },

    // A scope is a part that a page asks for. Values are what anybody may have sent.
    scopes: {
      technician: (name, request) => userOf(request)?.name === name && { technician: name },
      customer: async (id, request) => {
        const user = userOf(request);
        return user !== undefined && (await customersOf(user)).has(id) && { customer: id };
      },
    },
  };
}
