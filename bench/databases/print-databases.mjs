export function printDatabases(results) { for (const m of results.measured) console.log(m.size, m.contender, m.workload, m.metric, m.values.map(v=>v.toFixed(2)).join(' ')); }
