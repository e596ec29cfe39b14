const steps = (...texts) =>
  texts.map((text, index) => ({ id: String(index + 1), text, done: false }));

const SAMPLE = {
  customers: [
    { _id: 'miller', name: 'Miller & Sons', address: '12 Mill Lane' },
    { _id: 'harbour', name: 'Harbour Inn', address: '3 Quay Street' },
  ],
  jobs: [
    {
      ...{ _id: 'j1', title: 'Heating makes noise', customer: 'miller', technician: 'ada' },
      ...{ note: '', checklist: steps('Bleed the radiators', 'Check the pump') },
    },
    {
      ...{ _id: 'j2', title: 'Boiler leaks', customer: 'harbour', technician: 'ben' },
      ...{ note: '', checklist: steps('Close the valve', 'Change the seal') },
    },
  ],
  stock: [
    { _id: 'pump', name: 'Pump', left: 4, ordered: 0 },
    { _id: 'seal', name: 'Seal', left: 20, ordered: 0 },
  ],
};

/** The first documents of an empty database, by SQL: pages get them as any other change. */
export async function addSample(query) {
  const { rows } = await query('select 1 from cairn_rows limit 1');
  if (rows.length > 0) return;
  for (const [collection, documents] of Object.entries(SAMPLE)) {
    const pushed = documents.map((document) => ({
      ...{ id: document._id, base: null, key: crypto.randomUUID(), document },
    }));
    await query('select cairn_push($1, $2)', [collection, JSON.stringify(pushed)]);
  }
}
