import type { Turn } from "../../../src/pass-over/domain/circle"
import { bash, call, failing, looking, noise, shown, source, type Draw } from "./circle-draw"

export type Kind = (draw: Draw) => Turn[][]

const alone = (turns: readonly Turn[]) => turns.map((turn) => [turn])

/** Rounds of the same, each made anew, with a little honest work strewn in. */
function rounds(draw: Draw, make: (round: number) => Turn | Turn[], strewn = draw.pick([0, 0, 0.1, 0.25])): Turn[][] {
  return Array.from({ length: draw.int(8, 20) }, (_, round) => [
    ...(draw.chance(strewn) ? [looking(draw)] : []),
    ...[make(round)].flat(),
  ]).flatMap(alone)
}

const DEAD_ENDS: readonly ((draw: Draw) => Turn)[] = [
  (draw) => call("grep", { pattern: draw.name(), path: "src" }, "No files found"),
  (draw) => call("glob", { pattern: `**/${draw.name()}.ts` }, "No files found"),
  (draw) => {
    const path = draw.path()
    return call("read", { filePath: path }, shown(path, source(draw, draw.int(2, 80))))
  },
  (draw) => call("read", { filePath: draw.path() }, "File not found", true),
  (draw) => bash(`bun run ${draw.name()}`, `error: Script not found "${draw.name()}"`),
  (draw) => call("webfetch", { url: `https://example.com/${draw.name()}` }, draw.prose(draw.int(5, 200))),
  (draw) => call("todowrite", { todos: [{ content: draw.prose(5), status: "in_progress" }] }, draw.prose(9)),
  (draw) => call("list", { path: "src" }, source(draw, 6).join("\n")),
]

const deadEnd = (draw: Draw) => draw.pick(DEAD_ENDS)(draw)

const WAYS = [
  "Run the tests",
  "Try the test suite again",
  "Check whether it works now",
  "Execute tests one more time",
  "Verify",
  "See if the failure is gone",
]

const HINTS: readonly ((path: string) => string)[] = [
  (path) => `Error: could not find the module that ${path} imports; check that its package is installed`,
  (path) => `Error: the module that ${path} imports could not be found, please check that its package is installed`,
  (path) => `Error: cannot find that module which ${path} imports. Check if the package is installed`,
  (path) => `Error: module imported by ${path} not found, check that the package was installed`,
]

const tweaked = (draw: Draw, text: string) => {
  const list = text.split(" ")
  list[draw.int(0, list.length - 1)] = draw.name()
  return list.join(" ")
}

export const LOOPS: Record<string, Kind> = {
  verbatim: (draw) => {
    const turn = deadEnd(draw)
    return rounds(draw, () => turn)
  },

  "new stamps in the answer": (draw) => {
    const path = draw.path()
    return rounds(draw, () =>
      bash(
        `node ${path}`,
        `[${draw.stamp()}] INFO starting pid=${draw.int(900, 9_999)} request-id: ${draw.hex(12)}\n[${draw.stamp()}] ERROR connect ECONNREFUSED 127.0.0.1:5432\nTrace ${draw.hex(16)}\nFailed in ${draw.int(1, 99)}.${draw.int(1, 9)}s`,
      ),
    )
  },

  "new stamps in the call": (draw) => {
    const name = draw.name()
    const form = draw.pick<() => string>([
      () => `curl -s "http://localhost:3000/${name}?ts=${Date.parse(draw.stamp())}"`,
      () => `echo "${draw.stamp()} trying ${name}" && ./run.sh ${name}`,
      () => `curl -s -H "x-request-id: ${draw.hex(12)}" http://localhost:3000/${name}`,
      () => `./run.sh ${name} --log /tmp/tmp.${draw.hex(10)}`,
      () =>
        `./run.sh ${name} --log out-${draw.stamp().slice(0, 10)}_${draw.int(100000, 235959)}.log --timeout ${draw.int(10, 90)}s`,
    ])
    // The last form names its log by day and by a number of its own; the day is the stamp, the number is not.
    return rounds(draw, () => bash(form().replace(/_\d{6}\.log/, ".log"), `{"error":"not authorised for ${name}"}`))
  },

  "a reworded call": (draw) => {
    const output = failing(draw)
    const path = draw.path()
    return rounds(draw, () => {
      const tail = draw.pick([
        "",
        ` | tail -n ${draw.int(10, 80)}`,
        " 2>&1",
        ` 2>&1 | head -${draw.int(10, 80)}`,
        " || true",
      ])
      return bash(`${draw.pick(["", "", "time ", "timeout 60 "])}bun test ${path}${tail}`, output(), draw.pick(WAYS))
    })
  },

  "a reworded answer": (draw) => {
    const path = draw.path()
    const command = `bun run ${draw.name()}`
    return rounds(draw, () => bash(command, draw.pick(HINTS)(path)))
  },

  "a reworded question": (draw) => {
    const topic = `${draw.name()} ${draw.name()} error ${draw.name()} bun`
    const results = Array.from({ length: 5 }, () => `${draw.prose(8)} https://example.com/${draw.name()}`).join("\n")
    const tool = draw.pick(["websearch", "codesearch"])
    return rounds(draw, () =>
      call(tool, { query: `${draw.pick(["how to fix", "fix", "solve", "cause of", "what is"])} ${topic}` }, results),
    )
  },

  interleaved: (draw) => {
    const turn = deadEnd(draw)
    const most = draw.int(1, 3)
    return rounds(draw, () => [turn, ...Array.from({ length: draw.int(1, most) }, () => looking(draw))], 0)
  },

  "the same error after tiny edits": (draw) => {
    const output = failing(draw)
    const path = draw.path()
    const line = source(draw, 2).join("\n")
    const test = `bun test ${draw.path()}`
    let now = line
    return rounds(draw, () => {
      const next = tweaked(draw, line)
      const edit = call("edit", { filePath: path, oldString: now, newString: next }, "Edit applied successfully.")
      now = next
      return [edit, bash(test, output())]
    })
  },

  "the same error, moved by tiny edits": (draw) => {
    const output = failing(draw)
    const path = draw.path()
    const body = source(draw, 6).join("\n")
    const test = `bun test ${path}`
    return rounds(draw, (round) => [
      call(
        "edit",
        { filePath: path, oldString: body, newString: `${body}\n${"console.log(1)\n".repeat(round % 4)}` },
        "Edit applied successfully.",
      ),
      bash(test, output(12 + draw.int(0, 9))),
    ])
  },

  "writing the same file anew": (draw) => {
    const path = draw.path()
    const body = source(draw, 12).join("\n")
    const error = `error: ${draw.prose(9)} in ${path}`
    return rounds(draw, () => [
      call("write", { filePath: path, content: tweaked(draw, body) }, "Wrote file successfully."),
      bash(`node ${path}`, `${error}\n    at ${draw.stamp()}`),
    ])
  },

  "the same work handed on again": (draw) => {
    const [prompt, verdict] = [draw.prose(40), draw.prose(50)]
    const path = draw.path()
    return rounds(draw, () =>
      call(
        "task",
        {
          description: draw.prose(3),
          prompt: `Find out in ${path}: ${prompt} ${draw.prose(4)}`,
          subagent_type: "scout",
        },
        `${draw.prose(5)} ${verdict}`,
      ),
    )
  },

  "an edit that never fits": (draw) => {
    const path = draw.path()
    const line = source(draw, draw.int(2, 5)).join("\n")
    const error = "Could not find oldString in the file. It must match exactly, including whitespace and indentation."
    return rounds(draw, () =>
      call("edit", { filePath: path, oldString: tweaked(draw, line), newString: tweaked(draw, line) }, error, true),
    )
  },

  "back and forth": (draw) => {
    const [one, two] = [deadEnd(draw), deadEnd(draw)]
    return rounds(draw, () => [one, two])
  },

  "a round of several": (draw) => {
    const turns = Array.from({ length: draw.int(3, 7) }, () => deadEnd(draw))
    return rounds(draw, () => turns)
  },

  "done and undone": (draw) => {
    const path = draw.path()
    const [a, b] = [source(draw, 2).join("\n"), source(draw, 2).join("\n")]
    const [red, blue] = [failing(draw), failing(draw)]
    const test = `bun test ${draw.path()}`
    const change = (from: string, to: string) =>
      call("edit", { filePath: path, oldString: from, newString: to }, "Edit applied successfully.")
    return rounds(draw, () => [change(a, b), bash(test, red()), change(b, a), bash(test, blue())])
  },

  "a counter of its own": (draw) => {
    const url = `https://example.com/${draw.name()}`
    return rounds(draw, (round) =>
      bash(
        `./deploy.sh ${url}`,
        `Attempt ${round + 1}\nrequest ${draw.int(1e5, 1e6)} rejected by ${url}: quota of the plan used up, nothing was sent`,
      ),
    )
  },

  "a huge answer": (draw) => {
    const path = draw.path()
    const log = source(draw, draw.int(300, 900)).join("\n")
    return rounds(draw, () => bash(`cat ${path}`, `${draw.stamp()}\n${log}\nread in ${draw.int(1, 900)}ms`))
  },

  "reading and failing to edit": (draw) => {
    const path = draw.path()
    const file = shown(path, source(draw, draw.int(10, 60)))
    const line = source(draw, 3).join("\n")
    return rounds(draw, () => [
      call("read", { filePath: path }, file),
      call(
        "edit",
        { filePath: path, oldString: tweaked(draw, line), newString: line },
        "oldString not found in content",
        true,
      ),
    ])
  },

  "a malformed call": (draw) => {
    const body = draw.prose(30)
    const error =
      "The arguments provided to the tool are invalid: expected decision to be one of approved, rejected, blocked"
    return rounds(draw, () => call("pass_over_return", { decision: "fine", reason: tweaked(draw, body) }, error, true))
  },

  "waiting for nothing": (draw) => {
    const command = `sleep ${draw.int(1, 9)}; curl -s localhost:${draw.int(3000, 9000)}/health`
    return Array.from({ length: draw.int(14, 24) }, () => [bash(command, "curl: (7) Failed to connect to localhost")])
  },

  "lines in another order": (draw) => {
    const lines = Array.from({ length: draw.int(5, 20) }, () => `(fail) ${draw.name()} ${draw.prose(4)}`)
    return rounds(draw, () =>
      bash("bun test --concurrent", lines.toSorted(() => (draw.chance(0.5) ? 1 : -1)).join("\n")),
    )
  },

  "a commit of nothing": (draw) =>
    rounds(draw, () =>
      bash(
        `git add -A && git commit -m "${draw.pick(["fix", "feat", "chore"])}: ${draw.prose(4)}"`,
        "On branch main\nnothing to commit, working tree clean",
      ),
    ),

  "after honest work": (draw) => {
    const turn = deadEnd(draw)
    return [...alone(Array.from({ length: draw.int(10, 60) }, () => noise(draw))), ...rounds(draw, () => turn)]
  },
}
