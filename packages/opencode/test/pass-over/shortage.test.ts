import { describe, expect, test } from "bun:test"
import * as fc from "fast-check"
import type { ContextMessage } from "../../src/pass-over/domain/context"
import { shortage, shortageLine, shortages } from "../../src/pass-over/domain/shortage"

const LIMIT = { megabytes: 100, where: "subagents.wren.max_memory_mb in .opencode/pass-over.json" }

const of = (output: string, exit: number | null = 1, command = "./build") => shortage({ command, exit, output })

// As they were said under `ulimit -d` by the programs named, or, where there was none to try, as their sources have it.
const SAID: Record<string, [output: string, exit: number]> = {
  "python3, MemoryError": [
    'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\nMemoryError\n',
    1,
  ],
  "python3, numpy": ["numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB for an array", 1],
  "python3, subprocess": ["OSError: [Errno 12] Cannot allocate memory", 1],
  pytest: ["E       MemoryError\n\nsrc/test_big.py:12: MemoryError\n1 failed in 0.30s", 1],
  node: ["terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n", 134],
  "node, heap": [
    "<--- Last few GCs --->\n\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n 1: 0xb8ced1 node::Abort() [node]",
    134,
  ],
  "node, table": ["FATAL ERROR: invalid table size Allocation failed - JavaScript heap out of memory\n", 134],
  "node, buffer": ["                        ^\n\nRangeError: Array buffer allocation failed\n    at alloc", 1],
  "node, spawn": ["Error: spawn ENOMEM\n    at ChildProcess.spawn\n  errno: -12,\n  code: 'ENOMEM',", 1],
  "bun, array": ["RangeError: Out of memory\n      at /x/[eval]:1:11\n\nBun v1.3.14 (Linux x64)", 1],
  "bun, heap": [
    "ASSERTION FAILED: MemoryExhaustion: Crash intentionally because memory is exhausted.\nfailureMode",
    134,
  ],
  bash: ["bash: xrealloc: cannot allocate 104464384 bytes\n", 2],
  "bash, with its place": [
    "/bin/bash: line 1: xmalloc: ../bash/lib.c:88: cannot allocate 4096 bytes (98304 bytes allocated)",
    2,
  ],
  "bash, fork": ["/bin/bash: fork: Cannot allocate memory", 254],
  perl: ["Out of memory!\npanic: fold_constants JMPENV_PUSH returned 2 at -e line 1.", 12],
  awk: ['awk: run time error: out of memory\n\tFILENAME="" FNR=0 NR=0', 2],
  jq: ["error: cannot allocate memory\n", 134],
  tail: ["tail: memory exhausted", 1],
  git: ["fatal: Out of memory, malloc failed (tried to allocate 52428800 bytes)", 128],
  gcc: ["virtual memory exhausted: Cannot allocate memory", 1],
  "gcc, its compiler": ["cc1plus: out of memory allocating 65536 bytes after a total of 1351680 bytes", 1],
  "gcc, its linker": [
    "/usr/bin/ld: final link failed: memory exhausted\ncollect2: error: ld returned 1 exit status",
    1,
  ],
  clang: ["LLVM ERROR: out of memory\nAllocation failed", 134],
  "a C program": ["reader: Cannot allocate memory", 1],
  "a C++ program, libc++": [
    "libc++abi: terminating due to uncaught exception of type std::bad_alloc: std::bad_alloc",
    134,
  ],
  rustc: ["memory allocation of 8388608 bytes failed\nstack backtrace:\n   0: std::alloc::rust_oom", 134],
  go: ["fatal error: runtime: cannot allocate memory\n\ngoroutine 1 [running]:", 2],
  "go, heap": [
    "runtime: out of memory: cannot allocate 4194304-byte block (66650112 in use)\nfatal error: out of memory",
    2,
  ],
  java: [
    "OpenJDK 64-Bit Server VM warning: INFO: os::commit_memory(0x0, 6225920, 0) failed; error='Not enough space' (errno=12)\n#\n# There is insufficient memory for the Java Runtime Environment to continue.",
    1,
  ],
  "java, heap": ['Exception in thread "main" java.lang.OutOfMemoryError: Java heap space\n\tat M.main(M.java:1)', 1],
  ".NET": [
    "Unhandled exception. System.OutOfMemoryException: Exception of type 'System.OutOfMemoryException' was thrown.",
    134,
  ],
  ruby: ["-e:1:in `*': failed to allocate memory (NoMemoryError)", 1],
  php: ["PHP Fatal error:  Out of memory (allocated 2097152) (tried to allocate 300000032 bytes) in - on line 1", 255],
  "the loader": [
    "ls: error while loading shared libraries: libpcre2-8.so.0: failed to map segment from shared object",
    127,
  ],
  make: ["cc1: out of memory allocating 96 bytes\nmake: *** [Makefile:2: big.o] Error 1", 2],
}

// What fails for another reason and only speaks of memory, or ends alike.
const LOOK_ALIKES: Record<string, [output: string, exit: number | null, command?: string]> = {
  "a failing test": ["1 test failed\n  expected 3 but got 4", 1],
  "a test about memory": [
    '(fail) says out of memory when the disk is full\nexpected: "Cannot allocate memory" in the log',
    1,
  ],
  "a search that finds it": [
    'src/pool.c:12:  return "Cannot allocate memory"\nsrc/a.py:3:    raise MemoryError',
    1,
    "grep -rn memory . /x",
  ],
  "a search that finds the very words": [
    "notes/errors.txt:12: Cannot allocate memory\nlib/pool.c:3: Out of memory!\ngrep: missing: No such file or directory",
    2,
    "grep -rn memory notes lib missing",
  ],
  "a name with it": ["src/MemoryErrorView.tsx: not found\nclass MemoryErrorHandler is not defined", 1],
  "a document about it": ["Out of memory handling is described below.\nMemoryErrors are rare.", 1],
  "a source that throws it": ["    throw new OutOfMemoryError()\n    ^ not callable", 1],
  "static storage for threads": ["x.so: cannot allocate memory in static TLS block", 1],
  "no space on the disk": ["cp: error writing 'x': No space left on device", 1],
  "a limit of another kind": ["bash: fork: retry: Resource temporarily unavailable", 254],
  "PHP's own limit": [
    "PHP Fatal error:  Allowed memory size of 134217728 bytes exhausted (tried to allocate 20480 bytes)",
    255,
  ],
  "an assertion": ["prog: main.c:3: main: Assertion `x == 3' failed.\nAborted", 134],
  "a sanitizer": ["==12==ERROR: AddressSanitizer: SEGV on unknown address 0x0", 139],
  "another exception": [
    "terminate called after throwing an instance of 'std::out_of_range'\n  what():  vector::_M_range_check",
    134,
  ],
  "a stack without an end": ["thread 'main' has overflowed its stack\nfatal runtime error: stack overflow", 134],
  "glibc's own checks": ["free(): double free detected in tcache 2\nAborted", 134],
  "what was ended on purpose": ["", 137, "timeout -s KILL 5 ./server"],
  "what was killed": ["", 137, "./server & kill -9 $!; wait $!"],
  "what the host ended": [
    "(no output)\n<shell_metadata>\nshell tool terminated command after exceeding timeout 500 ms.",
    null,
  ],
  "not found": ["bash: line 1: foo: command not found", 127],
  success: ["MemoryError is now handled", 0],
  "success, with the very words": ["MemoryError", 0, "python3 demo.py"],
  "a log that is shown": ["worker: Cannot allocate memory", 0, "tail -n 50 worker.log | sort"],
}

describe("what a command that could not get memory says", () => {
  for (const [name, [output, exit]] of Object.entries(SAID)) {
    test(name, () => {
      const found = of(output, exit)
      expect(found?.sure).toBe(true)
      expect(output.replaceAll(/\s+/g, " ")).toContain(found!.sign.slice(1, -1).slice(0, 30))
    })
  }
})

describe("what looks like it and is not", () => {
  for (const [name, [output, exit, command]] of Object.entries(LOOK_ALIKES)) {
    test(name, () => expect(of(output, exit, command)).toBeUndefined())
  }
})

test("a program that says nothing is ended by a signal: that is likely, and no more", () => {
  for (const [exit, name] of [
    [133, "SIGTRAP"],
    [134, "SIGABRT"],
    [137, "SIGKILL"],
    [139, "SIGSEGV"],
  ] as const) {
    expect(of("/bin/bash: line 1: 172 Segmentation fault      sh fill.sh\n", exit)).toEqual({
      sure: false,
      sign: `exit code ${exit}, ${name}`,
    })
  }
  // Two threads of node's at once.
  const recursive = "terminate called after throwing an instance of 'terminate called recursively\nAborted  node -e"
  expect(of(recursive, 134)).toMatchObject({ sure: false })
  expect(of("", 138)).toBeUndefined()
})

test("a thread that could not be made is likely, and so is what stands behind a pipe", () => {
  expect(of("RuntimeError: can't start new thread")).toMatchObject({ sure: false })
  expect(of("MemoryError", 0, "python3 build.py 2>&1 | tail -5")).toMatchObject({ sure: false })
})

test("only the end of a long output counts, and it is read in no time", () => {
  const chatter = "compiled a file\n".repeat(100_000)
  expect(of(`${chatter}MemoryError\n`)).toMatchObject({ sure: true })
  expect(of(`MemoryError\n${chatter}`)).toBeUndefined()
  expect(of(`${"a: ".repeat(2_000_000)}\n${"fatal: error: ".repeat(1_000_000)}`)).toBeUndefined()
})

test("the line names the error, the limit, where it is set and what to do, and is one line", () => {
  const line = shortageLine({ sure: true, sign: '"MemoryError"' }, LIMIT)
  expect(line).toBe(
    'E014 RESOURCE_EXHAUSTED: The command ran out of memory ("MemoryError"): max_memory_mb is 100, set at subagents.wren.max_memory_mb in .opencode/pass-over.json. → Do it in smaller pieces or with fewer at once; where it cannot be done with less, return what you have and say how much it needs, for the user can raise the setting.',
  )
  expect(shortageLine({ sure: false, sign: "exit code 139, SIGSEGV" }, LIMIT)).toContain("may have run out of memory")
})

test("whatever a command says, the line about it is one line and of bounded length", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.constantFrom(1, 133, 134, 137, 139), (text, exit) => {
      for (const output of [text, `${text}\nx: Cannot allocate memory`, `MemoryError: ${text}`]) {
        const found = of(output, exit)
        if (!found) continue
        const line = shortageLine(found, LIMIT)
        expect(line).not.toMatch(/[\n\r]/)
        expect(line.length).toBeLessThan(700)
      }
    }),
    { seed: 14 },
  )
})

const ran = (command: string, output: string, exit: number, tool_name = "bash"): ContextMessage => ({
  id: "msg_1",
  role: "assistant",
  timestamp: 1,
  parts: [
    {
      id: "prt_1",
      type: "tool",
      tool_name,
      tool_status: "completed",
      tool_input: { command },
      tool_output: output,
      metadata: { exit },
    },
  ],
})

test("an outcome names the commands that surely met the limit, each once, and none where there is no limit", () => {
  const messages = [
    ran("python3 build.py", "MemoryError", 1),
    ran("python3 build.py", "MemoryError", 1),
    ran("./a.out", "Segmentation fault", 139),
    ran("make", "make: *** [all] Error 1", 2),
    ran("node build.js", "std::bad_alloc thrown", 1),
    ran("python3 other.py", "MemoryError", 1, "task"),
  ]
  expect(shortages(messages, LIMIT)).toEqual([
    {
      code: "E014",
      message:
        '`python3 build.py` ran out of memory ("MemoryError"): max_memory_mb is 100, set at subagents.wren.max_memory_mb in .opencode/pass-over.json',
      suggested_action:
        "Ask for less at once, or raise max_memory_mb at subagents.wren.max_memory_mb in .opencode/pass-over.json.",
    },
  ])
  expect(shortages(messages, undefined)).toEqual([])
})

test("what we have said about a command ourselves does not make it more certain", () => {
  const quiet = "Segmentation fault"
  const line = shortageLine({ sure: false, sign: "exit code 139, SIGSEGV" }, LIMIT)
  expect(of(`${quiet}\n\n${line}`, 139)).toMatchObject({ sure: false })
  expect(shortages([ran("./a.out", `${quiet}\n\n${line}`, 139)], LIMIT)).toEqual([])
})
