/**
 * The type declarations of the library, for users who have nothing but the package: a file for each entry and some for
 * what they share, without zod and without anything else that is bundled.
 */
import ts from "@typescript/typescript6"
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join, relative } from "node:path"
import { rollup } from "rollup"
import { dts } from "rollup-plugin-dts"
import { createWriter, isInferred, type Writer } from "./declare-type"

const root = join(import.meta.dir, "..")
const source = join(root, "src")

/** The entries that scripts import, and what each is made from. */
const TYPED = {
  index: "lib",
  api: "api",
  core: "core",
  config: "config",
  context: "context",
  audit: "audit-log",
}

/** What opencode loads; in its own terms these would need its packages. */
const LOADED = {
  server: "declare const plugin: { id: string; server: (input: object, options?: object) => Promise<object> }",
  tui: "declare const plugin: { id: string; tui: (api: object, ...rest: unknown[]) => Promise<void> }",
}

function open() {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => {} }
  const options = { noEmit: false, declaration: true, emitDeclarationOnly: true, noCheck: true }
  const read = ts.getParsedCommandLineOfConfigFile(join(root, "tsconfig.json"), options, host)
  if (!read) throw new Error("tsconfig.json cannot be read")
  const rootNames = Object.values(TYPED).map((name) => join(source, `${name}.ts`))
  return ts.createProgram({ rootNames, options: read.options })
}

/** Puts plain types in the place of zod's, in what the compiler is about to write. */
function plain(program: ts.Program, writer: Writer): ts.TransformerFactory<ts.SourceFile | ts.Bundle> {
  const checker = program.getTypeChecker()
  const verbatim = (text: string) => ts.factory.createTypeReferenceNode(text)
  return (context) => (root) => {
    if (ts.isBundle(root)) return root
    const file = root.fileName
    const visit = (node: ts.Node): ts.Node => {
      const original = ts.getOriginalNode(node)
      if (ts.isTypeAliasDeclaration(node) && ts.isTypeAliasDeclaration(original) && isInferred(original.type)) {
        const type = verbatim(writer.spell(checker.getTypeFromTypeNode(original.type), file))
        return ts.factory.updateTypeAliasDeclaration(node, node.modifiers, node.name, node.typeParameters, type)
      }
      if (ts.isVariableDeclaration(node) && ts.isVariableDeclaration(original)) {
        const type = writer.schema(checker.getTypeAtLocation(original.name), file)
        if (type !== undefined) {
          return ts.factory.updateVariableDeclaration(node, node.name, undefined, verbatim(type), undefined)
        }
      }
      return ts.visitEachChild(node, visit, context)
    }
    return ts.visitEachChild(root, visit, context)
  }
}

type Export = { name: string; from: string; as: string } | { name: string; all: string }

/** What a module exports, each with the file that it is at home in. A module that exports itself by a name is a whole. */
function exportsOf(program: ts.Program, path: string): Export[] {
  const checker = program.getTypeChecker()
  const file = program.getSourceFile(path)
  const symbol = file && checker.getSymbolAtLocation(file)
  if (!symbol) throw new Error(`it exports nothing: ${path}`)
  return checker.getExportsOfModule(symbol).map((one) => {
    const target = one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one
    const home = target.declarations?.[0]?.getSourceFile().fileName
    if (home === undefined) throw new Error(`${one.name} of ${path} is nowhere at home`)
    if (target.flags & ts.SymbolFlags.ValueModule) return { name: one.name, all: home }
    return { name: target.name, from: home, as: one.name }
  })
}

/** The declarations of some of our files and of all that they need, in a folder as the sources are. */
function emit(program: ts.Program, files: Iterable<string>, folder: string) {
  const transformers = { afterDeclarations: [plain(program, createWriter(program, source))] }
  const wanted = new Set(files)
  // A set that grows while it is walked: what is added is walked too.
  for (const path of wanted) {
    const write = (_: string, text: string) => {
      const at = join(folder, relative(source, path).replace(/\.ts$/, ".d.ts"))
      mkdirSync(dirname(at), { recursive: true })
      // The bundler cannot follow a module that exports itself; the doors do that.
      writeFileSync(at, text.replace(/^export \* as .*\n/gm, ""))
      for (const { fileName } of ts.preProcessFile(text).importedFiles) {
        const next = `${join(dirname(path), fileName)}.ts`
        if (program.getSourceFile(next)) wanted.add(next)
      }
    }
    program.emit(program.getSourceFile(path), write, undefined, true, transformers)
  }
}

type Door = { name: string; exports: Export[] }

/** The entries, and the modules that some of them export as a whole. */
function doors(program: ts.Program): Door[] {
  const entries = Object.entries(TYPED).map(([name, from]) => ({
    name,
    exports: exportsOf(program, join(source, `${from}.ts`)),
  }))
  const wholes = new Set(entries.flatMap(({ exports }) => exports.flatMap((one) => ("all" in one ? [one.all] : []))))
  const parts = [...wholes].map((path) => ({
    name: doorOf(path),
    exports: exportsOf(program, path).filter((one) => "from" in one),
  }))
  return [...entries, ...parts]
}

const doorOf = (path: string) => `all-${basename(path, ".ts")}`

async function bundle(built: Door[], folder: string, outdir: string) {
  const input = built.map(({ name, exports }) => {
    const lines = exports.flatMap((one) => {
      if ("all" in one) return []
      const from = `./${relative(source, one.from).replace(/\.ts$/, "")}`
      return [`export { ${one.name} as ${one.as} } from "${from}"\n`]
    })
    writeFileSync(join(folder, `door-${name}.d.ts`), lines.join(""))
    return [name, join(folder, `door-${name}.d.ts`)]
  })
  const bundled = await rollup({
    input: Object.fromEntries(input) as Record<string, string>,
    plugins: [dts({ tsconfig: join(root, "tsconfig.json") })],
    treeshake: { moduleSideEffects: false },
    // Every file that is read imports zod; what is left of that is looked at below.
    onLog: () => {},
  })
  const { output } = await bundled.write({
    dir: outdir,
    format: "es",
    entryFileNames: "[name].d.ts",
    chunkFileNames: "[name].d.ts",
    manualChunks: (path) => (basename(path).startsWith("door-") ? undefined : "shared"),
    minifyInternalExports: false,
  })
  await bundled.close()
  return output.flatMap((file) => (file.type === "chunk" ? [file] : []))
}

// It is of the host and not of the language: whoever has types of the DOM, Node or Bun has more of it, all others this.
const HOST = "declare global {\n  interface AbortSignal {}\n}\n"

/** What a declaration needs, its users have to have: there must be nothing but other declarations of ours. */
function refuseStrays(chunks: { fileName: string; imports: string[] }[]) {
  const own = new Set(chunks.map(({ fileName }) => fileName))
  for (const { fileName, imports } of chunks) {
    const stray = imports.filter((name) => !own.has(name))
    if (stray.length > 0) throw new Error(`${fileName} needs ${stray.join(", ")}, which its users do not have`)
  }
}

export async function declare(outdir: string) {
  const folder = mkdtempSync(join(tmpdir(), "pass-over-types-"))
  try {
    const program = open()
    const made = doors(program)
    emit(
      program,
      made.flatMap(({ exports }) => exports.flatMap((one) => ("all" in one ? [] : [one.from]))),
      folder,
    )
    const chunks = await bundle(made, folder, outdir)
    refuseStrays(chunks)
    for (const { fileName, code } of chunks) {
      if (/\bAbortSignal\b/.test(code)) appendFileSync(join(outdir, fileName), HOST)
    }
    for (const { name, exports } of made) {
      const lines = exports.flatMap((one) =>
        "all" in one ? [`export * as ${one.name} from './${doorOf(one.all)}.js';\n`] : [],
      )
      appendFileSync(join(outdir, `${name}.d.ts`), lines.join(""))
    }
    for (const [name, text] of Object.entries(LOADED)) {
      writeFileSync(join(outdir, `${name}.d.ts`), `${text}\nexport default plugin\n`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) await declare(process.argv[2] ?? join(root, "dist"))
