declare module '*.md' {
  const page: import('vue').Component;
  export default page;
}
