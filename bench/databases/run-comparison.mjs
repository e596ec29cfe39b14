export async function runComparison() {}
