import '../../worker/index.ts';

addEventListener('message', ({ data }) => {
  if (data === 'throw') throw new Error('Thrown on purpose.');
});
