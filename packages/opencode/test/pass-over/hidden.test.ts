import { describe, expect, test } from "bun:test"
import { hides, pieces, visible } from "../../src/pass-over/domain/hidden"

describe("what is hidden in a text", () => {
  test("stands as its number: what turns the direction, what is not seen, what controls", () => {
    expect(visible("if (admin\u202e\u2066) {\u2069")).toBe("if (admin<U+202E><U+2066>) {<U+2069>")
    expect(visible("a\u200bb\u00adc\ufeffd\u200de")).toBe("a<U+200B>b<U+00AD>c<U+FEFF>d<U+200D>e")
    expect(visible("const \u3164 = \u2800")).toBe("const <U+3164> = <U+2800>")
    expect(visible("\u001b[2J\u0000\u007f\u0085\u2028")).toBe("<U+001B>[2J<U+0000><U+007F><U+0085><U+2028>")
    expect(visible("x\ud800\ufffc")).toBe("x\ufffd<U+FFFC>")
    expect(pieces("a\u202eb")).toEqual([
      { text: "a", hidden: false },
      { text: "U+202E", hidden: true },
      { text: "b", hidden: false },
    ])
  })

  test("is not what everybody sees: lines, tabs, letters of any script, and emoji as they are put together", () => {
    for (const text of [
      "",
      "a\tb\nc\r\nd",
      "שלום العربية 日本 é ü",
      "👩‍👩‍👧 ❤️ 👍🏽 1️⃣ 🏳️‍🌈 👩🏽‍💻 ☠︎ 🇩🇪",
      "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
      "می\u200cخواهم",
      "क्\u200dष",
    ])
      expect([text, visible(text), hides(text)]).toEqual([text, text, false])
  })

  test("is found where it dresses up as one of these", () => {
    expect(visible("a\rb")).toBe("a<U+000D>b")
    // Whole sentences can be spelled in tags, and in selectors behind a letter.
    expect(visible("\u{1f3f4}\u{e0067}\u{e0062}\u{e0061}\u{e007f}")).toContain("<U+E0061>")
    expect(visible("a\ufe0f\u{e0101}")).toBe("a<U+FE0F><U+E0101>")
    expect(visible("❤️\ufe0f")).toBe("❤️<U+FE0F>")
    expect(visible("👩\u200dx")).toBe("👩<U+200D>x")
  })
})
