import type { Turn } from "../../../src/pass-over/domain/circle"
import { bash, call, failing, noise, shown, source, type Draw } from "./circle-draw"
import type { Kind } from "./circle-loops"

/** Many of a kind, each made anew, each in a step of its own or some at once, with other work strewn in. */
function many(draw: Draw, make: (index: number) => Turn | Turn[], [least, most] = [6, 30]): Turn[][] {
  const strewn = draw.pick([0, 0, 0.1, 0.3])
  const together = draw.chance(0.2)
  const turns = Array.from({ length: draw.int(least, most) }, (_, index) => [
    ...(draw.chance(strewn) ? [noise(draw)] : []),
    ...[make(index)].flat(),
  ])
  return together ? turns : turns.flatMap((several) => several.map((turn) => [turn]))
}

const EDITED = "Edit applied successfully."
const edit = (draw: Draw, path: string) =>
  call("edit", { filePath: path, oldString: source(draw, 2).join("\n"), newString: source(draw, 2).join("\n") }, EDITED)
const nudge = (path: string, name: string, from: number, to: number) =>
  call("edit", { filePath: path, oldString: `const ${name} = ${from}`, newString: `const ${name} = ${to}` }, EDITED)
const CLEAN =
  "Checked 1 file with the rules of this project: no problems, no fixes applied, everything is formatted as it should be."

export const HONEST: Record<string, Kind> = {
  "writing many files": (draw) =>
    many(draw, (index) =>
      call(
        "write",
        {
          filePath: draw.chance(0.5) ? draw.path() : `src/probe${index}.txt`,
          content: draw.chance(0.5) ? "" : draw.prose(9),
        },
        "Wrote file successfully.",
      ),
    ),

  "editing many files alike": (draw) => {
    const [from, to] = [draw.name(), draw.name()]
    return many(draw, () => call("edit", { filePath: draw.path(), oldString: from, newString: to }, EDITED))
  },

  "editing one file in many places": (draw) => {
    const path = draw.path()
    return many(draw, () => edit(draw, path))
  },

  "one file with a warning that stays": (draw) => {
    const path = draw.path()
    const warning = `${EDITED}\n\nLSP errors detected in this file, please fix:\nERROR [3:10] Module '"./old"' has no exported member 'Thing'.`
    return many(draw, () => ({ ...edit(draw, path), output: warning }), [4, 12])
  },

  "linting many files": (draw) =>
    many(draw, () => bash(`bunx oxlint ${draw.path()}`, draw.pick(["no problems", CLEAN, "(no output)"]))),

  "linting all, twice": (draw) => {
    const paths = Array.from({ length: draw.int(4, 12) }, () => draw.path())
    const pass = () => paths.map((path) => [bash(`bunx oxlint ${path}`, CLEAN)])
    return [...pass(), [edit(draw, draw.pick(paths))], ...pass()]
  },

  "reading files that are alike": (draw) => {
    const content = draw.chance(0.5) ? "(empty file)" : draw.prose(60)
    return many(draw, () => call("read", { filePath: draw.path() }, content))
  },

  "looking for a file": (draw) =>
    many(
      draw,
      () =>
        call(
          "read",
          { filePath: draw.path() },
          draw.chance(0.5) ? "File not found" : `File not found: ${draw.path()}`,
          true,
        ),
      [4, 12],
    ),

  paging: (draw) => {
    const path = draw.path()
    const same = draw.chance(0.3) ? source(draw, 5) : undefined
    return many(draw, (index) =>
      call(
        "read",
        { filePath: path, offset: index * 50, limit: 50 },
        shown(path, same ?? source(draw, 20), index * 50),
      ),
    )
  },

  "a log that grows": (draw) => {
    const command = draw.pick(["cat build.log", "tail -n 200 build.log", "sleep 2; cat build.log"])
    const lines: string[] = []
    return many(draw, () => {
      lines.push(`${draw.stamp()} built ${draw.path()}`)
      return bash(command, lines.join("\n"))
    })
  },

  "a counter that climbs": (draw) => {
    const id = draw.hex(8)
    let done = 0
    return many(draw, () => {
      done += draw.int(1, 5)
      return bash(
        `curl -s localhost:8080/job/${id}`,
        draw.chance(0.5) ? `{"id":"${id}","progress":${done}}` : `${draw.stamp()} job ${id}: ${done} of 400 done`,
      )
    })
  },

  "time that runs down": (draw) => {
    let left = draw.int(40, 90)
    return many(
      draw,
      () => bash("./deploy.sh status", `Deploying to staging, ${(left -= draw.int(1, 3))} min left`),
      [5, 16],
    )
  },

  "a state that moves on": (draw) => {
    const name = draw.name()
    const states = ["queued", "pulling", "building", "testing", "publishing", "verifying", "done"]
    return states.flatMap((state) =>
      Array.from({ length: draw.int(1, 3) }, () => [
        bash(
          `sleep 3; gh run view ${name}`,
          `Workflow release of ${name} on branch main by its owner is ${state} at ${draw.stamp()}`,
        ),
      ]),
    )
  },

  "a test after each edit": (draw) => {
    const test = `bun test ${draw.path()}`
    return many(draw, () => [edit(draw, draw.path()), bash(test, failing(draw)())], [4, 16])
  },

  "a test that gives way slowly": (draw) => {
    const test = `bun test ${draw.path()}`
    const [path, name] = [draw.path(), draw.name()]
    const stuck = () => {
      const output = failing(draw)
      return Array.from({ length: draw.int(2, 4) }, (_, round) => [
        [draw.chance(0.5) ? edit(draw, draw.path()) : nudge(path, name, round, round + 1)],
        [bash(test, output())],
      ]).flat()
    }
    return Array.from({ length: draw.int(1, 5) }, stuck).flat()
  },

  "all is well after each edit": (draw) => {
    const path = draw.path()
    const check = draw.pick([
      () =>
        bash("bun test", `bun test v1.3\n 214 pass\n 0 fail\nRan 214 tests across 31 files. [${draw.int(100, 900)}ms]`),
      () => bash("bunx tsc --noEmit", "(no output)"),
      () => bash("bunx oxlint", "Found 0 warnings and 0 errors.\nFinished on 120 files with 93 rules."),
    ])
    return many(draw, () => [edit(draw, draw.chance(0.5) ? path : draw.path()), check()], [6, 20])
  },

  "a failure that was there before": (draw) => {
    const output = failing(draw)
    return many(draw, () => [edit(draw, draw.path()), bash("bun test", output())], [3, 7])
  },

  "errors fixed one by one": (draw) => {
    const path = draw.path()
    let line = 1
    return many(draw, () => [
      edit(draw, path),
      bash(
        "bunx tsc --noEmit",
        `${path}(${(line += draw.int(1, 30))},5): error TS2322: Type 'string' is not assignable to type 'number'.`,
      ),
    ])
  },

  "one fix in many places": (draw) => {
    const path = draw.path()
    let line = 1
    return many(
      draw,
      () => [
        call(
          "edit",
          { filePath: path, oldString: `item.get("a${line}").name`, newString: `item.get("a${line}")!.name` },
          EDITED,
        ),
        bash(`node ${path}`, `${path}:${(line += draw.int(1, 30))}:9\nTypeError: Cannot read properties of undefined`),
      ],
      [3, 8],
    )
  },

  "reading again what was changed": (draw) => {
    const path = draw.path()
    const lines = source(draw, draw.int(20, 200))
    return many(draw, () => {
      lines[draw.int(0, lines.length - 1)] = source(draw, 1)[0]!
      return [edit(draw, path), call("read", { filePath: path }, shown(path, lines))]
    }, [4, 14])
  },

  "retries that succeed": (draw) =>
    many(draw, () => {
      const url = `https://example.com/${draw.name()}`
      const failed = call(
        "webfetch",
        { url },
        "Request failed with status code: 503, the service is not available just now",
        true,
      )
      return [...Array.from({ length: draw.int(1, 3) }, () => failed), call("webfetch", { url }, draw.prose(40))]
    }, [2, 8]),

  "searches that find nothing": (draw) =>
    many(draw, () =>
      call("grep", { pattern: draw.name(), ...(draw.chance(0.5) ? { path: "src" } : {}) }, "No files found"),
    ),

  "questions that find nothing": (draw) =>
    many(
      draw,
      () => call("websearch", { query: draw.prose(6) }, "No search results found. Please try a different query."),
      [4, 12],
    ),

  "a list of things to do": (draw) => {
    const todos = Array.from({ length: draw.int(4, 14) }, () => ({
      content: draw.prose(6),
      status: "pending",
      priority: "high",
    }))
    return todos.flatMap((todo) =>
      ["in_progress", "completed"].flatMap((status) => {
        todo.status = status
        const update = call("todowrite", { todos: structuredClone(todos) }, JSON.stringify(todos, undefined, 2))
        return [[update], ...Array.from({ length: draw.int(0, 2) }, () => [noise(draw)])]
      }),
    )
  },

  "reading and editing in turn": (draw) =>
    many(draw, () => {
      const path = draw.path()
      return [call("read", { filePath: path }, shown(path, source(draw, 8))), edit(draw, path)]
    }),

  "waiting for a server": (draw) => {
    const command = `sleep ${draw.int(1, 9)}; curl -s localhost:${draw.int(3000, 9000)}/health`
    const refused = bash(command, "curl: (7) Failed to connect to localhost")
    return [...Array.from({ length: draw.int(2, 6) }, () => [refused]), [bash(command, "ok")]]
  },

  "fetching many pages": (draw) => {
    const page = draw.chance(0.4) ? "404: this page does not exist any more, go back to where you came from" : undefined
    return many(draw, () =>
      call("webfetch", { url: `https://example.com/docs/${draw.name()}`, format: "markdown" }, page ?? draw.prose(80)),
    )
  },

  bisecting: (draw) =>
    many(draw, () => {
      const good = draw.chance(0.5)
      const commit = draw.hex(40)
      return draw.chance(0.5)
        ? bash(
            `git checkout -q ${commit} && bun test cart`,
            good ? "1 pass" : "1 fail: expected 3 to be 4 in cart total",
          )
        : bash(
            `git bisect ${good ? "good" : "bad"}`,
            `Bisecting: ${draw.int(1, 99)} revisions left to test after this\n[${commit}] ${draw.prose(4)}`,
          )
    }),

  "a matrix of tests": (draw) => {
    const tests = ["small", "large", "wide"].flatMap((size) =>
      ["fast", "slow", "mixed"].flatMap((mode) => [1, 2, 3].map((seed) => ({ size, mode, seed }))),
    )
    const from = draw.int(0, 12)
    return tests
      .slice(from, from + draw.int(6, 15))
      .map(({ size, mode, seed }) => [
        bash(
          `bun bench --size ${size} --mode ${mode} --seed ${seed}`,
          `All 24 cases gave what was expected of them, none was left out [${draw.int(10, 900)}ms]`,
        ),
      ])
  },

  "the same look now and then": (draw) => {
    const look = draw.pick([
      bash("git status --short", ""),
      bash("git diff --stat", "(no output)"),
      call("todoread", {}, "[]"),
      bash("pwd", "/home/me/project"),
    ])
    return Array.from({ length: draw.int(4, 10) }, () => [
      ...Array.from({ length: draw.int(5, 9) }, () => [noise(draw)]),
      [look],
    ]).flat()
  },

  "edits that need a second try": (draw) =>
    many(draw, () => {
      const path = draw.path()
      const right = edit(draw, path)
      const wrong = {
        ...right,
        input: right.input.replace("const", "let"),
        output: "oldString not found in content",
        failed: true,
      }
      return [...Array.from({ length: draw.int(0, 2) }, () => wrong), right]
    }, [3, 10]),

  "many wrong edits of one file": (draw) => {
    const path = draw.path()
    return many(draw, () => ({ ...edit(draw, path), output: "oldString not found in content", failed: true }), [3, 8])
  },

  "a commit after each edit": (draw) =>
    many(draw, () => {
      const path = draw.path()
      const quietly = draw.chance(0.5)
      return [
        edit(draw, path),
        bash(
          `git commit ${quietly ? "-q" : ""}am "${draw.prose(5)}"`,
          quietly
            ? "(no output)"
            : `[main ${draw.hex(7)}] ${draw.prose(5)}\n 1 file changed, ${draw.int(1, 9)} insertions(+)`,
        ),
      ]
    }, [4, 14]),

  "the same asked twice at once": (draw) =>
    Array.from({ length: draw.int(2, 5) }, () => {
      const turn = noise(draw)
      return Array.from({ length: draw.int(2, 6) }, () => turn)
    }),

  "calls to a service": (draw) => {
    const first = draw.int(1, 500)
    return many(draw, (index) =>
      bash(
        `curl -s -X POST localhost:8080/items/${first + index} -d '{"on":true}'`,
        `{"ok":true,"time":"${draw.stamp()}"}`,
      ),
    )
  },

  "moving files": (draw) => many(draw, () => bash(`git mv ${draw.path()} ${draw.path()}`, "(no output)")),

  "work handed on": (draw) =>
    many(
      draw,
      () =>
        call(
          "task",
          {
            description: "Review a file",
            prompt: `Review ${draw.path()} for ${draw.prose(12)}`,
            subagent_type: "scout",
          },
          "I have read it and found nothing that is wrong with it; it does what it says.",
        ),
      [3, 10],
    ),

  "tests that flicker": (draw) => {
    const [one, two] = [failing(draw), failing(draw)]
    const path = draw.path()
    return Array.from({ length: draw.int(4, 6) }, (_, index) => [
      bash(`bun test ${path} --rerun-each 20`, (index % 2 === 0 ? one : two)()),
    ])
  },

  "looking again after a while": (draw) => {
    const path = draw.path()
    const again = call("read", { filePath: path }, shown(path, source(draw, 40)))
    return [
      [again],
      [noise(draw)],
      [again],
      ...Array.from({ length: draw.int(3, 20) }, () => [noise(draw)]),
      [again],
      [edit(draw, path)],
    ]
  },

  "a long day": (draw) => Array.from({ length: draw.int(60, 160) }, () => [noise(draw)]),
}
