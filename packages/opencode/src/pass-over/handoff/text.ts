/** Counts tokens. The exact counter is loaded outside and handed in: this layer loads nothing. */
export type Count = (text: string) => number

/** What a rule of a protocol found wrong: where, and why, in words that whoever wrote it can act on. */
export type Problem = { path: string; message: string }

export const problem = (path: string, message: string): Problem => ({ path, message })

// Words that every finished piece of work could be described with. What is left without them says something.
const EMPTY = new Set(
  `a about all am an and any are as asked at be been by can did do does done everything fine finished for from good got
  great has have here i in is it it's its job just made my nothing now of ok okay on our per please ready requested see
  so some something step stuff successfully task that the their there these thing things this to was we well went were
  what will with work worked complete completed completely above below`.split(/\s+/),
)

// These are written without spaces between words: where one ends is in the language's dictionary.
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

// What Japanese writes in hiragana alone are mostly endings and particles.
const ENDING = /^\p{Script=Hiragana}+$/u

const segmenter = new Intl.Segmenter(undefined, { granularity: "word" })

const apart = (run: string) =>
  UNSPACED.test(run)
    ? [...segmenter.segment(run)].flatMap(({ segment, isWordLike }) =>
        isWordLike && !ENDING.test(segment) ? segment : [],
      )
    : [run]

const words = (text: string) =>
  (text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}'’./_-]*/gu) ?? []).flatMap(apart)

/** How many different words of a text would not stand in just any other one. */
const telling = (text: string) => new Set(words(text).filter((word) => !EMPTY.has(word.replace("’", "'")))).size

/** A summary that says nothing: "It's done". */
export const vague = (text: string) => telling(text) < 3

// Each of these is a matter of opinion until a number stands beside it.
const OPINION =
  /\b(?:good|nice|clean|better|best|great|fast|faster|quick|quickly|soon|slow|proper|properly|appropriate|appropriately|reasonable|reasonably|robust|adequate|adequately|sufficient|sufficiently|acceptable|elegant|intuitive|user-friendly|maintainable|readable|beautiful|modern|efficient|efficiently|optimal|optimally|simple|easy|well|high[- ]quality|as possible|nicely)\b/i
const MEASURE = /\d|[<>≤≥=%]|`[^`]+`|\bno\b|\bnone\b|\bzero\b|\bevery\b|\ball\b/i

/** Whether two people who look at the result would agree that this holds. */
export const measurable = (criterion: string) =>
  telling(criterion) >= 2 && !(OPINION.test(criterion) && !MEASURE.test(criterion))

/** Whether a constraint means the same to whoever reads it: "quickly" does not. */
export const clear = (constraint: string) => !OPINION.test(constraint) || MEASURE.test(constraint)

const TOLD =
  /(?:^|[.!?]\s+)(?:first,? |then |next,? |after that,? )?(?:i|we) (?:searched|looked|went|opened|started|read)\b/gi
const COPIED = /```|\bfollowing (?:code|content|output)\b|\[\d+ lines?[^\]]{0,200}\]/i
const CODE_LINE = /^\s*(?:[{}]|.*[;{}]$|(?:import|export|const|let|function|class|def|return)\b.+)/

/** Why a summary is not one, though it says something: it retells, or it copies. Nothing where it is fine. */
export function unsummarised(text: string): string | undefined {
  if (COPIED.test(text)) return "it copies instead of summarising; name the file and say what matters in it"
  if (text.split("\n").filter((line) => CODE_LINE.test(line)).length >= 3)
    return "it holds lines of code; name the file and say what matters in it"
  if ((text.match(TOLD) ?? []).length >= 2)
    return "it retells the search; say what was found and what the next step needs"
  return undefined
}

/** The longest beginning of a text, by whole words, that is within a number of tokens. */
export function within(text: string, tokens: number, count: Count): string {
  // A byte-level tokenizer never makes more tokens than there are bytes: most texts need no counting.
  if (text.length * 4 <= tokens || count(text) <= tokens) return text
  const pieces = text.match(/\S+\s*|\s+/g) ?? []
  let [low, high] = [0, pieces.length]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (count(`${pieces.slice(0, middle).join("").trimEnd()} …`) <= tokens) low = middle
    if (low !== middle) high = middle - 1
  }
  if (low > 0) return `${pieces.slice(0, low).join("").trimEnd()} …`
  // One word alone is too long: half of it, and half again.
  const half = text.slice(0, Math.floor(text.length / 2)).toWellFormed()
  return half === "" ? "" : within(half, tokens, count)
}
