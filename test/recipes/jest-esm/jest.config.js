export default {
  transform: {}, // Node reads ES modules by itself
};
