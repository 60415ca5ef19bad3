/**
 * Types as a reader would write them. A type that zod has inferred names zod; written out it needs nobody, and every
 * type that has a name of its own keeps it.
 */
import ts from "@typescript/typescript6"
import { dirname, join, relative } from "node:path"

export type Writer = {
  /** The text of a type, as it stands in a file; by its name, where it has one. */
  write(type: ts.Type, file: string): string
  /** The text of what a name stands for. */
  spell(type: ts.Type, file: string): string
  /** The text of a schema's type, where it is one. */
  schema(type: ts.Type, file: string): string | undefined
}

const WIDE = 100
const DEEP = 30
const BRAND = /\$brand/

export const isInferred = (node: ts.TypeNode) => /^z\.(infer|input|output)</.test(node.getText())

const isBrand = (type: ts.Type) => type.getProperties().some(({ name }) => BRAND.test(name))

// Texts and numbers are all alike: what has their type need not mean what a name for it says.
const isTold = (type: ts.Type): boolean => {
  if (type.isIntersection() && type.types.some(isBrand)) return false
  if (type.isUnionOrIntersection()) return type.types.some(isTold)
  return (type.flags & ts.TypeFlags.Object) !== 0
}

/** The names that our own files give to inferred types. */
function names(program: ts.Program, root: string) {
  const checker = program.getTypeChecker()
  const found = new Map<ts.Type, { name: string; file: string }>()
  for (const file of program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(root))) {
    for (const statement of file.statements) {
      if (!ts.isTypeAliasDeclaration(statement) || !isInferred(statement.type)) continue
      const type = checker.getTypeFromTypeNode(statement.type)
      if (isTold(type) && !found.has(type)) found.set(type, { name: statement.name.text, file: file.fileName })
    }
  }
  return found
}

/** A name from another file, in the place where it is used. */
const imported = (from: string, file: string, name: string) =>
  `import(${JSON.stringify(`./${relative(dirname(from), file)}`)}).${name}`

const quoted = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

const indented = (text: string) => text.replaceAll("\n", "\n    ")

const braced = (lines: string[]) => {
  const short = `{ ${lines.join("; ")} }`
  if (short.length <= WIDE && !short.includes("\n") && !short.includes("/**")) return short
  return `{\n${lines.map((line) => `    ${indented(line)};\n`).join("")}}`
}

function createPrinter(checker: ts.TypeChecker, nameOf: (type: ts.Type, file: string) => string | undefined) {
  const all = (types: readonly ts.Type[], file: string, depth: number) =>
    types.map((type) => text(type, file, depth + 1)).toSorted()

  function member(symbol: ts.Symbol, file: string, depth: number) {
    const comment = ts.displayPartsToString(symbol.getDocumentationComment(checker)).replaceAll("\n", " ")
    const isOptional = (symbol.flags & ts.SymbolFlags.Optional) !== 0
    const type = text(checker.getTypeOfSymbol(symbol), file, depth + 1)
    return `${comment ? `/** ${comment} */\n` : ""}${quoted(symbol.name)}${isOptional ? "?" : ""}: ${type}`
  }

  function object(type: ts.Type, file: string, depth: number) {
    if (type.getCallSignatures().length > 0) throw new Error(`a function in a schema: ${checker.typeToString(type)}`)
    const indexes = checker.getIndexInfosOfType(type).map((info) => {
      const [key, value] = [text(info.keyType, file, depth + 1), text(info.type, file, depth + 1)]
      return `[key: ${key}]: ${value}`
    })
    return braced([...type.getProperties().map((symbol) => member(symbol, file, depth)), ...indexes])
  }

  function union(type: ts.UnionType, file: string, depth: number) {
    const booleans = type.types.filter(({ flags }) => flags & ts.TypeFlags.BooleanLiteral)
    const rest = booleans.length === 2 ? type.types.filter((one) => !booleans.includes(one)) : type.types
    const parts = [...(rest.length < type.types.length ? ["boolean"] : []), ...all(rest, file, depth)]
    return parts.toSorted((a, b) => Number(a === "undefined") - Number(b === "undefined")).join(" | ")
  }

  function list(type: ts.TypeReference, file: string, depth: number) {
    const inner = checker.getTypeArguments(type).map((one) => text(one, file, depth + 1))
    if (checker.isTupleType(type)) return `[${inner.join(", ")}]`
    return `${type.symbol.name}<${inner.join(", ")}>`
  }

  function shape(type: ts.Type, file: string, depth: number): string {
    if (depth > DEEP) throw new Error(`a type that never ends: ${checker.typeToString(type)}`)
    if (checker.isArrayType(type) || checker.isTupleType(type)) return list(type as ts.TypeReference, file, depth)
    if (type.isUnion()) return union(type, file, depth)
    // What brands an id is of use inside only: a user has its text.
    if (type.isIntersection())
      return all(
        type.types.filter((one) => !isBrand(one)),
        file,
        depth,
      ).join(" & ")
    if (type.flags & ts.TypeFlags.Object) return object(type, file, depth)
    return checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation)
  }

  const text = (type: ts.Type, file: string, depth = 0): string => nameOf(type, file) ?? shape(type, file, depth)

  return { text, shape }
}

export function createWriter(program: ts.Program, root: string): Writer {
  const checker = program.getTypeChecker()
  const known = names(program, root)
  const { text, shape } = createPrinter(checker, (type, file) => {
    const named = known.get(type)
    if (!named) return
    return named.file === file ? named.name : imported(file, named.file.replace(/\.ts$/, ""), named.name)
  })
  const whole = createPrinter(checker, () => undefined)

  const part = (inner: ts.Type, name: string) => {
    const symbol = checker.getPropertyOfType(inner, name)
    return symbol && checker.getTypeOfSymbol(symbol)
  }

  return {
    write: (type, file) => text(type, file),
    spell: (type, file) => shape(type, file, 0),
    schema(type, file) {
      const inner = part(type, "_zod")
      const [output, input] = inner ? [part(inner, "output"), part(inner, "input")] : []
      if (!output || !input) return
      // What goes in is most often what comes out, but for zod they are two types.
      const isSame = whole.text(input, file) === whole.text(output, file)
      const told = [text(output, file), ...(isSame ? [] : [text(input, file)])].join(", ")
      return `${imported(file, join(root, "schema"), "Schema")}<${told}>`
    },
  }
}
