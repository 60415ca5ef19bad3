declare module "*.txt" {
  const text: string
  export default text
}

declare module "*.yaml" {
  const text: string
  export default text
}
