export function publish() { return ''; }
