import 'cairndb/worker';

addEventListener('message', ({ data }) => {
  if (data === 'throw') throw new Error('Thrown on purpose.');
});
