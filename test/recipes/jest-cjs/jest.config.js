module.exports = {
  transformIgnorePatterns: ['/node_modules/(?!cairndb/)'], // Cairn is an ES module
};
